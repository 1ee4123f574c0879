import type { Omission } from "@galley/contract/coverage"
import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import { judgeContent, judgePath } from "./export-policy.ts"
import type { Git } from "./git.ts"
import { readBlobs } from "./read-blobs.ts"
import type { ChangeSide } from "./read-raw-diff.ts"
import type { TreeEntry } from "./read-tree.ts"
import { createExportWriter } from "./write-export.ts"

type Reason = Omission["reason"]

/** What was exported, what was left out and why, and what is known about each blob that was read. */
export type Export = Readonly<{
  /** Object id of every exported path. */
  oids: ReadonlyMap<string, string>
  lineCounts: ReadonlyMap<string, number>
  leftOut: ReadonlyMap<string, Reason>
  /** By object id: why the content may not be shown, or null. */
  contents: ReadonlyMap<string, Reason | null>
  exposedBytes: number
}>

/**
 * Reads every blob that may be shown through one git process and writes the export from it.
 *
 * @param sides sides of the change; the ones the export does not hold are read too, and judged
 *
 * Throws `checkout_content_exceeded` over `maxExposedBytes`, `checkout_path_unsafe` for a path named twice.
 */
export async function exportHead(
  git: Git,
  repository: string,
  treePath: string,
  entries: readonly TreeEntry[],
  sides: readonly ChangeSide[],
  limits: JobLimits,
  signal: AbortSignal,
): Promise<Export> {
  const writer = createExportWriter(treePath)
  const oids = new Map<string, string>()
  const lineCounts = new Map<string, number>()
  const leftOut = new Map<string, Reason>()
  const contents = new Map<string, Reason | null>()
  const wanted: TreeEntry[] = []
  for (const entry of entries) {
    const reason = judgePath(entry.mode, entry.path, limits)
    if (reason === null) wanted.push(entry)
    else leftOut.set(entry.path, reason)
  }
  const exported = new Set(wanted.map((entry) => entry.oid))
  const others = sides.filter((side) => !exported.has(side.oid) && isContentWanted(side, limits))
  const asked = [...wanted, ...others].map((blob) => blob.oid)
  let exposedBytes = 0
  let index = 0
  for await (const { oid, content } of readBlobs(git, repository, asked, limits.maxFileBytes, signal)) {
    const { reason, lines } = judgeContent(content, limits)
    contents.set(oid, reason)
    const entry = wanted[index++]
    if (entry === undefined) continue
    if (reason !== null || content === null) {
      leftOut.set(entry.path, reason ?? "file_too_large")
      continue
    }
    exposedBytes += content.length
    if (exposedBytes > limits.maxExposedBytes) throw contentExceeded(limits)
    writer.write(entry.path, content)
    oids.set(entry.path, oid)
    lineCounts.set(entry.path, lines)
  }
  writer.seal()
  return { oids, lineCounts, leftOut, contents, exposedBytes }
}

/** Of what may be in the diff only discovery inputs are not in the export. */
function isContentWanted(side: ChangeSide, limits: JobLimits): boolean {
  const reason = judgePath(side.mode, side.path, limits)
  return reason === null || reason === "discovery_input"
}

function contentExceeded(limits: JobLimits): GalleyError {
  const details = { maxExposedBytes: limits.maxExposedBytes }
  return new GalleyError("checkout_content_exceeded", "the readable content of the head tree is too large", { details })
}
