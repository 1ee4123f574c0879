import { setTimeout as delay } from "node:timers/promises"
import { Logger, makeWorkerUtils, run } from "graphile-worker"
import { type Contender, JOB_DATA, POOL } from "./contender.ts"

const TASK = "review"
const RAMP_UP_MS = 300

/** graphile-worker: it takes jobs with its own runner, in this process; there is no call to take one. */
export async function openGraphileQueue(url: string): Promise<Contender> {
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: POOL })
  await utils.migrate()
  return {
    enqueue: async () => {
      await utils.addJob(TASK, JOB_DATA)
    },
    cycle: null,
    process: async (lanes, durationMs) => {
      let done = 0
      const taskList = {
        [TASK]: async () => {
          done++
        },
      }
      const runner = await run({ connectionString: url, concurrency: lanes, maxPoolSize: POOL, logger, noHandleSignals: true, taskList })
      await delay(RAMP_UP_MS)
      const before = { done, at: performance.now() }
      await delay(durationMs)
      const perSecond = ((done - before.done) * 1000) / (performance.now() - before.at)
      await runner.stop()
      return perSecond
    },
    fill: async (jobs) => {
      for (let left = jobs; left > 0; left -= 1_000) {
        await utils.addJobs(Array.from({ length: Math.min(left, 1_000) }, () => ({ identifier: TASK, payload: JOB_DATA })))
      }
    },
    analyze: () => utils.withPgClient(async (client) => void (await client.query("analyze graphile_worker._private_jobs"))),
    close: async () => {
      await utils.release()
    },
  }
}
