/** Middle value; of an even number the upper one of the two. NaN for none. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that `share` (0 to 1) of the values do not exceed. NaN for none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}
