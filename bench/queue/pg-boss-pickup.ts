import { PgBoss } from "pg-boss"
import { JOB_DATA } from "./contender.ts"
import type { Pickup, Stops } from "./pickup.ts"

const QUEUE = "review"

/** pg-boss with its notifications: from `send` to its worker's handler in this process, without HTTP, signature or a payload to parse. */
export async function openPgBossPickup(url: string, onError: (error: unknown) => void, stops: Stops): Promise<Pickup> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, useListenNotify: true })
  boss.on("error", onError)
  await boss.start()
  stops.push(() => boss.stop({ graceful: false }))
  await boss.createQueue(QUEUE, { notify: true })
  let taken = Promise.withResolvers<number>()
  await boss.work(QUEUE, async () => taken.resolve(performance.now()))
  return {
    wait: () => {
      taken = Promise.withResolvers()
      return taken.promise
    },
    send: () => boss.send(QUEUE, JOB_DATA),
    end: async () => {},
  }
}
