import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { ChangedFile, Checkout } from "./checkout.ts"
import { judgePath } from "./export-policy.ts"
import type { Git } from "./git.ts"
import { readBlobs } from "./read-blobs.ts"
import type { ChangeSide, RawChange } from "./read-raw-diff.ts"

/**
 * Answers the text of single files from the job's objects, after the omissions of the export: what the engine cannot read
 * at the head it cannot read at the merge base either, discovery inputs included.
 *
 * The merge base needs no listing of its own: a path that did not change is the same file there.
 *
 * @param exported object id of every exported path of the head
 */
export function createTextReader(
  git: Git,
  repository: string,
  exported: ReadonlyMap<string, string>,
  raw: readonly RawChange[],
  judge: (side: ChangeSide) => ChangedFile["omitted"],
  limits: JobLimits,
): Checkout["readText"] {
  const mergeBase = new Map(exported)
  for (const { after } of raw) if (after !== null) mergeBase.delete(after.path)
  for (const { before } of raw) if (before !== null && isReadable(before)) mergeBase.set(before.path, before.oid)

  return async (path, at, signal) => {
    const oid = (at === "head" ? exported : mergeBase).get(path)
    return oid === undefined ? null : await readText(git, repository, oid, limits, signal)
  }

  function isReadable(side: ChangeSide): boolean {
    return judgePath(side.mode, side.path, limits) === null && judge(side) === null
  }
}

async function readText(git: Git, repository: string, oid: string, limits: JobLimits, signal: AbortSignal): Promise<string> {
  try {
    for await (const { content } of readBlobs(git, repository, [oid], limits.maxFileBytes, signal)) {
      if (content !== null) return content.toString("utf8")
    }
  } catch (cause) {
    signal.throwIfAborted()
    throw unavailable(cause)
  }
  throw unavailable(undefined)
}

function unavailable(cause: unknown): GalleyError {
  return new GalleyError("changed_file_unavailable", "an object of the job could not be read", { cause })
}
