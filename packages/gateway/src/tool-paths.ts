import { posix } from "node:path"

/** Names of files that stock OpenCode attaches to a read, as it walks up from the file to the root of the export. */
const reminderNames: ReadonlySet<string> = new Set(["AGENTS.md", "CLAUDE.md", "CONTEXT.md"])

/**
 * `path` relative to the root, `""` for the root itself; null when it leads outside. Purely lexical: the export holds no symlinks.
 *
 * @param root absolute path, as the engine spells its working directory
 * @param path absolute, or relative to the root
 */
export function relativeInside(root: string, path: string): string | null {
  const relative = posix.relative(root, posix.resolve(root, path))
  return relative === ".." || relative.startsWith("../") ? null : relative
}

/** A path inside the export where nothing can be: no export holds a `.git`. */
export function nowhereInside(root: string): string {
  return posix.join(root, ".git/outside-the-checkout")
}

/**
 * Absolute paths of the files whose content stands in a tool result of OpenCode: the file of a read, the reminders below it, and every
 * file a grep quotes. Told by the form of the result, which repository text cannot forge: the engine puts a number before each line of
 * a file and an indentation before each match. Split at "\n" only, as the engine does. A reminder's own text is not numbered,
 * therefore only the known names count there.
 */
export function filesInResult(result: string): string[] {
  const lines = result.split("\n")
  const file = /^<path>(.+)<\/path>$/.exec(lines[0] ?? "")?.[1]
  if (file !== undefined && lines[1] === "<type>file</type>") return [file, ...remindersIn(lines)]
  if (/^Found \d+ match/.test(result))
    return lines.filter((line) => line.startsWith("/") && line.endsWith(":")).map((line) => line.slice(0, -1))
  return []
}

function remindersIn(lines: readonly string[]): string[] {
  const start = lines.indexOf("<system-reminder>")
  if (start < 0) return []
  return lines
    .slice(start)
    .filter((line) => line.startsWith("Instructions from: "))
    .map((line) => line.slice("Instructions from: ".length))
    .filter((path) => reminderNames.has(posix.basename(path)))
}
