import { findGit, runGit } from "./run-git.ts"

/** One changed file as GitHub lists it. */
export type ChangedFile = Readonly<{
  path: string
  previousPath: string | null
  status: "added" | "removed" | "modified" | "renamed" | "changed"
  /** Blob id at the head; of the base for a removed file. */
  sha: string
  additions: number
  deletions: number
  /** From the first `@@`; null when git shows no hunk. */
  patch: string | null
}>

/** What lies between the merge base of two commits and the second of them. */
export type Change = Readonly<{ mergeBaseSha: string | null; files: readonly ChangedFile[]; additions: number; deletions: number }>

const diffOptions = ["--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--full-index", "--src-prefix=a/", "--dst-prefix=b/"]

/** Reads a change from git. Without a merge base the two trees are compared. */
export async function readChange(directory: string, baseSha: string, headSha: string): Promise<Change> {
  const mergeBaseSha = await readMergeBase(directory, baseSha, headSha)
  const diff = (format: readonly string[]) => runGit(directory, ["diff", ...format, ...diffOptions, mergeBaseSha ?? baseSha, headSha, "--"])
  const [raw, counts, patch] = await Promise.all([diff(["--raw", "-z"]), diff(["--numstat", "-z"]), diff(["--patch"])])
  const files = joinFiles(readRaw(raw.toString()), readCounts(counts.toString()), splitPatches(patch.toString()))
  const sum = (pick: (file: ChangedFile) => number) => files.reduce((total, file) => total + pick(file), 0)
  return { mergeBaseSha, files, additions: sum((file) => file.additions), deletions: sum((file) => file.deletions) }
}

/** The merge base, or null when the two commits share no history. */
export function readMergeBase(directory: string, baseSha: string, headSha: string): Promise<string | null> {
  return findGit(directory, ["merge-base", baseSha, headSha])
}

type RawFile = Pick<ChangedFile, "path" | "previousPath" | "status" | "sha"> & { typeChanged: boolean }

const statuses: Readonly<Record<string, ChangedFile["status"]>> = { A: "added", D: "removed", M: "modified", R: "renamed", T: "changed" }

/** Records of `diff --raw -z`: `:<modes> <shas> <status>`, path, for a rename the new path too. */
function readRaw(text: string): RawFile[] {
  const fields = text.split("\0")
  const files: RawFile[] = []
  for (let at = 0; at + 1 < fields.length; ) {
    const [, , before = "", after = "", letters = ""] = (fields[at] ?? "").split(" ")
    const letter = letters.charAt(0)
    const renamed = letter === "R"
    const first = fields[at + 1] ?? ""
    files.push({
      path: renamed ? (fields[at + 2] ?? "") : first,
      previousPath: renamed ? first : null,
      status: statuses[letter] ?? "modified",
      sha: letter === "D" ? before : after,
      typeChanged: letter === "T",
    })
    at += renamed ? 3 : 2
  }
  return files
}

/** Records of `diff --numstat -z`; binary files count as 0 lines. A rename has an empty path and two more fields. */
function readCounts(text: string): { additions: number; deletions: number }[] {
  const fields = text.split("\0")
  const counts: { additions: number; deletions: number }[] = []
  for (let at = 0; at + 1 < fields.length; ) {
    const [additions = "", deletions = "", path = ""] = (fields[at] ?? "").split("\t")
    counts.push({ additions: Number(additions) || 0, deletions: Number(deletions) || 0 })
    at += path === "" ? 3 : 1
  }
  return counts
}

/** Hunks per `diff --git` section. Content lines start with a space, `+`, `-` or `\`, so they can fake no section. */
function splitPatches(text: string): (string | null)[] {
  return text
    .split(/^(?=diff --git )/m)
    .filter((section) => section !== "")
    .map((section) => {
      const hunks = /^@@ /m.exec(section)
      return hunks ? section.slice(hunks.index).replace(/\n$/, "") : null
    })
}

/** The three listings have one order; a changed type has two sections: the file removed and added. */
function joinFiles(raw: RawFile[], counts: ReturnType<typeof readCounts>, patches: (string | null)[]): ChangedFile[] {
  let section = 0
  return raw.map(({ typeChanged, ...file }, index) => {
    const sections = patches.slice(section, section + (typeChanged ? 2 : 1))
    section += typeChanged ? 2 : 1
    const patch = sections.filter((hunks) => hunks !== null).join("\n")
    return { ...file, additions: counts[index]?.additions ?? 0, deletions: counts[index]?.deletions ?? 0, patch: patch || null }
  })
}
