import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import { decodePath } from "./decode-path.ts"
import { type Git, streamGit } from "./git.ts"
import { splitRecords } from "./split-records.ts"

/** One side of a changed path. */
export type ChangeSide = Readonly<{ mode: string; oid: string; path: string }>
/** One changed path: `before` is null for an added one, `after` for a removed one; differing paths are a rename. */
export type RawChange = Readonly<{ before: ChangeSide | null; after: ChangeSide | null }>

/**
 * What differs between two trees, without reading a blob unless `renames` asks for similar content.
 * Throws `input_too_large` when more paths changed than a tree may have entries.
 */
export async function readRawDiff(
  git: Git,
  repository: string,
  trees: readonly [string, string],
  renames: readonly string[],
  limits: JobLimits,
  signal: AbortSignal,
): Promise<RawChange[]> {
  const fields: string[] = []
  const args = ["diff-tree", "-r", "--raw", "-z", "--no-abbrev", ...renames, ...trees]
  for await (const records of splitRecords(streamGit(git, { repository, args }, signal))) {
    for (const record of records) fields.push(record)
    if (fields.length > 3 * limits.maxTreeEntries) {
      throw new GalleyError("input_too_large", "the change touches too many paths", { details: { maxTreeEntries: limits.maxTreeEntries } })
    }
  }
  return parseRawDiff(fields)
}

/** Parses the fields of `--raw -z`: `:mode mode oid oid status`, a path, and a second path for a rename. Pure. */
export function parseRawDiff(fields: readonly string[]): RawChange[] {
  const changes: RawChange[] = []
  for (let index = 0; index < fields.length; ) {
    const [oldMode = "", newMode = "", oldOid = "", newOid = "", status = ""] = (fields[index++] ?? "").slice(1).split(" ")
    const oldPath = decodePath(fields[index++] ?? "")
    const newPath = status.startsWith("R") ? decodePath(fields[index++] ?? "") : oldPath
    changes.push({
      before: status === "A" ? null : { mode: oldMode, oid: oldOid, path: oldPath },
      after: status === "D" ? null : { mode: newMode, oid: newOid, path: newPath },
    })
  }
  return changes
}
