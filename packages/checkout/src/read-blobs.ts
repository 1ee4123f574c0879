import { GalleyError } from "@galley/contract/errors"
import { type Git, streamGit } from "./git.ts"

/** A blob's bytes; null when the repository does not hold it or it is larger than asked for. */
export type Blob = Readonly<{ oid: string; content: Buffer | null }>

const LINE_FEED = 10

/**
 * Reads blobs through one git process, in the order asked for. Larger ones are skipped without being held in memory.
 * Content is not hashed again: git computed every id from the content when it indexed the pack.
 *
 * Throws `checkout_objects_refused` when git cannot read an object it has.
 */
export async function* readBlobs(
  git: Git,
  repository: string,
  oids: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Blob> {
  if (oids.length === 0) return
  let pending: Buffer = Buffer.alloc(0)
  let skip = 0
  let next = 0
  const command = { repository, args: ["cat-file", "--batch", "--buffer"], input: `${oids.join("\n")}\n` }
  for await (const chunk of streamGit(git, command, signal)) {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const skipped = Math.min(skip, pending.length)
      pending = pending.subarray(skipped)
      skip -= skipped
      const end = pending.indexOf(LINE_FEED)
      if (skip > 0 || end < 0) break
      const oid = oids[next] ?? ""
      const [name, kind, size] = pending.toString("latin1", 0, end).split(" ")
      if (name !== oid) throw new GalleyError("checkout_objects_refused", "git answered for another object")
      const bytes = kind === "missing" ? null : Number(size)
      const kept = bytes !== null && bytes <= maxBytes
      if (kept && pending.length < end + 2 + bytes) break
      yield { oid, content: kept ? pending.subarray(end + 1, end + 1 + bytes) : null }
      next++
      pending = pending.subarray(kept ? end + 2 + bytes : end + 1)
      skip = kept || bytes === null ? 0 : bytes + 1
    }
  }
  if (next < oids.length) throw new GalleyError("checkout_objects_refused", "git left objects unanswered")
}
