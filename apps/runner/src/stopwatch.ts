import type { RunTrace } from "@galley/contract/protocol"

/** Times the steps of one run, in the order in which they ended. */
export type Stopwatch = Readonly<{
  time<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Steps so far, `ms` rounded to a tenth of a millisecond. */
  steps(): RunTrace["steps"]
}>

export function startStopwatch(): Stopwatch {
  const steps: RunTrace["steps"] = []
  return {
    async time(name, work) {
      const startedAt = performance.now()
      try {
        return await work()
      } finally {
        steps.push({ name, ms: Math.round((performance.now() - startedAt) * 10) / 10 })
      }
    },
    steps: () => [...steps],
  }
}
