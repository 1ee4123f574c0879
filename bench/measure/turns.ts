import { median } from "./statistics.ts"

/** What one contender gave in each round, by the contender's name. */
export type Rounds<T> = Readonly<Record<string, readonly T[]>>

/** A contender's one turn: measured for a moment, then the next one comes. */
export type Turn<T> = () => Promise<T>

/**
 * Lets the contenders take turns, so that what else the machine does hits all of them. Each round starts with another contender, so that
 * none always follows the same one. Before the rounds each has one turn that does not count.
 */
export async function takeTurns<T>(contenders: Readonly<Record<string, Turn<T>>>, rounds: number): Promise<Rounds<T>> {
  const names = Object.keys(contenders)
  const results: Record<string, T[]> = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (let place = 0; place < names.length; place++) {
      const name = names[(place + round + names.length) % names.length] ?? ""
      const value = await contenders[name]?.()
      if (round >= 0 && value !== undefined) results[name]?.push(value)
    }
  }
  return results
}

/** Ratio of two contenders in each round; what is reported is its median, with the extremes as its spread. */
export function ratios(ours: readonly number[], theirs: readonly number[]): { median: number; low: number; high: number } {
  const each = ours.map((value, round) => value / (theirs[round] ?? Number.NaN))
  return { median: median(each), low: Math.min(...each), high: Math.max(...each) }
}
