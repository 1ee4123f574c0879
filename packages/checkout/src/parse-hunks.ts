import type { LineRange } from "./checkout.ts"

export type Hunks = Readonly<{ changedLines: readonly LineRange[]; additions: number; deletions: number }>

/**
 * Counts the lines of a patch and tells which lines of the new file it touches. Pure.
 *
 * An added line counts itself. Where lines were only removed, the lines before and after the gap count, as far as the hunk
 * shows that they exist.
 *
 * @param patch hunks as git writes them, from the first `@@`
 */
export function parseHunks(patch: string): Hunks {
  const ranges: LineRange[] = []
  const count = { "+": 0, "-": 0 }
  let line = 0 // the next line of the new file
  let first = 0 // the first line of the new file that this hunk shows
  let gap = false // lines were removed directly before `line`
  const touchBeforeGap = (): void => {
    if (gap && line > first) touch(ranges, line - 1)
  }
  for (const text of patch.split("\n")) {
    const mark = text[0]
    if (mark === "@") {
      touchBeforeGap()
      gap = false
      line = firstNewLine(text)
      first = line
    } else if (mark === "-") {
      count["-"]++
      gap = true
    } else if (mark === "+") {
      count["+"]++
      gap = false
      touch(ranges, line++)
    } else if (mark === " ") {
      touchBeforeGap()
      if (gap) touch(ranges, line)
      gap = false
      line++
    }
  }
  touchBeforeGap()
  return { changedLines: ranges, additions: count["+"], deletions: count["-"] }
}

function firstNewLine(header: string): number {
  return Number(/^@@ -\d+(?:,\d+)? \+(\d+)/.exec(header)?.[1] ?? 1)
}

/** Adds a line at the end of ascending ranges, joining neighbours. */
function touch(ranges: LineRange[], line: number): void {
  const last = ranges.at(-1)
  if (last === undefined || line > last.end + 1) ranges.push({ start: line, end: line })
  else if (line > last.end) ranges[ranges.length - 1] = { start: last.start, end: line }
}
