/** Rows that one transaction looks at or removes: small enough that nothing else waits for it. */
export const BATCH_ROWS = 1_000

/** Repeats `removeBatch` until it found less than a batch, or `signal` aborts. @returns how many rows were removed */
export async function inBatches(removeBatch: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let removed = 0
  while (!signal.aborted) {
    const count = await removeBatch()
    removed += count
    if (count < BATCH_ROWS) break
  }
  return removed
}
