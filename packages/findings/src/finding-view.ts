import type { Finding, FindingRecord } from "@galley/contract/finding"
import { Sha } from "@galley/contract/sha"
import { clipText } from "./clip-text.ts"
import { uidOf } from "./finding-identity.ts"

const HEADER = /^\*\*([^*\n]+)\*\*(?:\n\n|$)/
/** Bytes of a title made from a body that has none. */
const MADE_TITLE_BYTES = 80

/** A record as people see it. What nobody said is null or empty, never made up. */
export function findingView(record: FindingRecord): Finding {
  const { title, text } = splitBody(record)
  return {
    id: uidOf(record),
    state: record.state === "ACTIVE" ? "active" : "resolved",
    title,
    body: text,
    path: record.path,
    startLine: record.line_start ?? null,
    endLine: record.line_end ?? record.line_start ?? null,
    priority: record.x?.priority ?? null,
    confidence: record.x?.confidence ?? null,
    evidence: record.x?.evidence ?? [],
    rules: record.x?.rules ?? [],
    engine: record.x?.engine ?? null,
    firstSeenSha: shaOrNull(record.x?.first_seen_head_sha),
    lastSeenSha: shaOrNull(record.last_seen_head_sha),
  }
}

/** Title and text of a body in PR-Agent's spelling, `**Title**\n\ntext`. */
function splitBody(record: FindingRecord): { title: string; text: string } {
  const header = HEADER.exec(record.body)
  const text = header === null ? record.body : record.body.slice(header[0].length)
  const title = record.x?.title ?? header?.[1] ?? clipText(record.body.split("\n", 1)[0] ?? "", MADE_TITLE_BYTES)
  return { title, text }
}

/** A commit id read from untrusted state, or null when it is none. */
export function shaOrNull(text: string | undefined): string | null {
  return Sha.safeParse(text).data ?? null
}
