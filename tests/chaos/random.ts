/** Everything a story leaves to chance, drawn from one seed. */
export type Random = Readonly<{
  /** A whole number from 0 to below `bound`. */
  below(bound: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
  /** 40 hex digits. */
  sha(): string
}>

/** The same seed gives the same numbers on every machine: mulberry32, public domain, by Tommy Ettinger. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: ([first, ...others]) => others[below(others.length + 1) - 1] ?? first,
    sha: () =>
      Array.from({ length: 5 }, () =>
        below(2 ** 32)
          .toString(16)
          .padStart(8, "0"),
      ).join(""),
  }
}
