import { PgBoss } from "pg-boss"
import { type Contender, JOB_DATA, POOL } from "./contender.ts"

const QUEUE = "review"

/** pg-boss at its best for this: no notifications, no supervision, jobs fetched one at a time as a runner needs them. */
export async function openPgBossQueue(url: string, onError: (error: unknown) => void): Promise<Contender> {
  const boss = new PgBoss({ connectionString: url, max: POOL, supervise: false, schedule: false })
  boss.on("error", onError)
  await boss.start()
  await boss.createQueue(QUEUE)
  return {
    enqueue: async () => {
      await boss.send(QUEUE, JOB_DATA)
    },
    cycle: async () => {
      const [job] = await boss.fetch(QUEUE)
      if (job === undefined) return false
      await boss.complete(QUEUE, job.id)
      return true
    },
    fill: async (jobs) => {
      for (let left = jobs; left > 0; left -= 1_000) {
        await boss.insert(
          QUEUE,
          Array.from({ length: Math.min(left, 1_000) }, () => ({ data: JOB_DATA })),
        )
      }
    },
    analyze: async () => {
      await boss.getDb().executeSql("analyze pgboss.job_common", [])
    },
    close: () => boss.stop({ graceful: false }),
  }
}
