import { parseJson } from "./chat-request.ts"

/** One line a change added: 1-based number in the file at the head, text without the leading `+`. */
export type AddedLine = Readonly<{ path: string; line: number; text: string }>

/** Added lines of a unified diff. Hunk headers are believed, so a removed line that looks like a file header is none. */
export function addedLinesOfDiff(diff: string): AddedLine[] {
  const added: AddedLine[] = []
  let path: string | null = null
  let line = 0
  let oldLeft = 0
  let newLeft = 0
  for (const text of diff.split("\n")) {
    if (oldLeft > 0 || newLeft > 0) {
      if (text.startsWith("\\")) continue
      if (text.startsWith("+") && path !== null) added.push({ path, line, text: text.slice(1) })
      if (!text.startsWith("+")) oldLeft--
      if (!text.startsWith("-")) {
        newLeft--
        line++
      }
      continue
    }
    const hunk = text.match(/^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/)
    if (hunk) {
      oldLeft = Number(hunk[1] ?? 1)
      line = Number(hunk[2])
      newLeft = Number(hunk[3] ?? 1)
    } else if (text.startsWith("+++ ")) path = headPath(text.slice(4))
  }
  return added
}

/** Added lines of the diff as PR-Agent prints it: `## File: 'path'`, then `__new hunk__` with numbered lines. */
export function addedLinesOfHunks(diff: string): AddedLine[] {
  const added: AddedLine[] = []
  let path: string | null = null
  let inNewHunk = false
  for (const text of diff.split("\n")) {
    const file = text.match(/^## File:? '(.*)'/)
    if (file) path = file[1] ?? null
    if (file || text === "__old hunk__") inNewHunk = false
    if (text === "__new hunk__") inNewHunk = true
    const line = inNewHunk ? text.match(/^(\d+) +\+(.*)$/) : null
    if (line && path !== null) added.push({ path, line: Number(line[1]), text: line[2] ?? "" })
  }
  return added
}

function headPath(spelled: string): string | null {
  const name = spelled.startsWith('"') ? parseJson(spelled) : spelled
  return typeof name === "string" && name.startsWith("b/") ? name.slice(2) : null
}

const keywords = new Set(
  "and any async await break case catch class const continue def default del elif else end enum except export extends false finally fmt for foreach from func function global goto has if impl implements import include int interface let long match mod module mut namespace new nil none not null object of package pass private protected pub public raise require return self short static str string struct super switch then this throw throws trait true try type typeof undefined union use using var void when where while with yield".split(
    " ",
  ),
)

/** The first name on a line that is no keyword, at most 40 characters of it, or null. */
export function nameOn(text: string): string | null {
  return text.match(/[\p{L}_$][\p{L}\p{N}_$]{2,39}/gu)?.find((word) => !keywords.has(word.toLowerCase())) ?? null
}

/** The line the scripted finding is about: the first added one with a name. */
export function firstNamedLine(lines: readonly AddedLine[]): (AddedLine & Readonly<{ name: string }>) | null {
  for (const line of lines) {
    const name = nameOn(line.text)
    if (name !== null) return { ...line, name }
  }
  return null
}
