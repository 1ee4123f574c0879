import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { Sha } from "@galley/contract/sha"
import { decodePath } from "./decode-path.ts"
import { type Git, streamGit } from "./git.ts"
import { splitRecords } from "./split-records.ts"

/** A tracked file, link or submodule. `mode` is octal text as git prints it, `path` is decoded (see `decodePath`). */
export type TreeEntry = Readonly<{ mode: string; oid: string; path: string }>

/**
 * Every entry of a commit's tree but the directories.
 *
 * Directories are listed too (`-t`), so that a bomb of empty nested trees is stopped by its count and not by time; files and
 * directories have the same bound each. Throws `checkout_entries_exceeded`.
 */
export async function readTree(git: Git, repository: string, commit: Sha, limits: JobLimits, signal: AbortSignal): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  let directories = 0
  let bytes = 0
  const listing = streamGit(git, { repository, args: ["ls-tree", "-r", "-t", "-z", "--full-tree", commit] }, signal)
  for await (const records of splitRecords(countBytes(listing))) {
    for (const record of records) {
      const tab = record.indexOf("\t")
      const [mode = "", type, oid = ""] = record.slice(0, tab).split(" ")
      if (type === "tree") directories++
      else entries.push({ mode, oid, path: decodePath(record.slice(tab + 1)) })
    }
    if (Math.max(entries.length, directories) > limits.maxTreeEntries) throw entriesExceeded(limits)
  }
  return entries

  async function* countBytes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      bytes += chunk.length
      // Deep nesting repeats long paths: a few entries can already be a long listing.
      if (bytes > 2 * limits.maxTreeEntries * limits.maxPathBytes) throw entriesExceeded(limits)
      yield chunk
    }
  }
}

function entriesExceeded(limits: JobLimits): GalleyError {
  const details = { maxTreeEntries: limits.maxTreeEntries }
  return new GalleyError("checkout_entries_exceeded", "the head tree has too many entries", { details })
}
