/** What a load gave: how many operations in how many seconds, and how long each took. */
export type Load = Readonly<{ count: number; seconds: number; perSecond: number; latenciesMs: readonly number[] }>

/**
 * Runs `lanes` copies of `work`, each again as soon as it ended, for `durationMs`. Work under way then is waited for and counted.
 * `work` answers false when there is nothing left; the load ends then.
 */
export async function runLanes(lanes: number, durationMs: number, work: (lane: number) => Promise<boolean>): Promise<Load> {
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  let dry = false
  const lane = async (number: number) => {
    while (!dry && performance.now() - startedAt < durationMs) {
      const at = performance.now()
      if (!(await work(number))) dry = true
      else latenciesMs.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))
  const seconds = (performance.now() - startedAt) / 1000
  return { count: latenciesMs.length, seconds, perSecond: latenciesMs.length / seconds, latenciesMs }
}
