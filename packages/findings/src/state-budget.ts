import type { Coverage } from "@galley/contract/coverage"
import type { FindingRecord } from "@galley/contract/finding"
import { serialiseState } from "./comment-state.ts"
import { newestFirst, type StoredText } from "./finding-record.ts"

/** UTF-8 bytes of the records in the state block; the rest of the comment is for people. */
const MAX_STATE_BYTES = 36_000
/** UTF-8 bytes of the list of files a run left out. */
const MAX_EXCLUDED_BYTES = 4_000

/** How much text of this run's findings is stored, tried in this order. */
const TEXT_STEPS: readonly StoredText[] = [
  { bodyBytes: 8_000, quotes: 5 },
  { bodyBytes: 4_000, quotes: 3 },
  { bodyBytes: 2_000, quotes: 2 },
  { bodyBytes: 1_000, quotes: 1 },
  { bodyBytes: 500, quotes: 1 },
]
const SHORTEST_TEXT: StoredText = { bodyBytes: 200, quotes: 1 }

/**
 * All active records: those of this run with as much text as fits beside the `others`. None is ever left out; whether the result fits
 * a comment shows when it is rendered.
 */
export function fitActive(
  build: (text: StoredText) => readonly FindingRecord[],
  others: readonly FindingRecord[],
): readonly FindingRecord[] {
  const room = MAX_STATE_BYTES - recordBytes(others)
  const text = TEXT_STEPS.find((step) => recordBytes(build(step)) <= room) ?? SHORTEST_TEXT
  return [...others, ...build(text)]
}

/** The newest resolved records which fit beside the active ones, and how many do not. */
export function fitResolved(
  active: readonly FindingRecord[],
  resolved: readonly FindingRecord[],
): Readonly<{ kept: readonly FindingRecord[]; forgotten: number }> {
  let room = MAX_STATE_BYTES - recordBytes(active)
  const kept: FindingRecord[] = []
  for (const record of [...resolved].sort(newestFirst)) {
    room -= recordBytes([record])
    if (room < 0) break
    kept.push(record)
  }
  return { kept, forgotten: resolved.length - kept.length }
}

/** Changed paths which were not reviewed, sorted, as many as fit. */
export function excludedFiles(coverage: Coverage): string[] {
  const paths = coverage.omitted.omissions.filter((omission) => omission.changed).map((omission) => omission.path)
  let room = MAX_EXCLUDED_BYTES
  return paths.sort().filter((path) => {
    room -= Buffer.byteLength(path) + 3
    return room >= 0
  })
}

function recordBytes(records: readonly FindingRecord[]): number {
  return Buffer.byteLength(serialiseState({ schema_version: 1, findings: [...records] }))
}
