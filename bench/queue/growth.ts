import { randomBytes, randomUUID } from "node:crypto"
import { openStore, type Store } from "@galley/store/database"
import { claimJobs } from "@galley/store/queue/claim-jobs"
import type { BenchOptions } from "../bench.ts"
import { type Bar, judge } from "../measure/bar.ts"
import { median } from "../measure/statistics.ts"
import { ratios, takeTurns } from "../measure/turns.ts"
import type { Cluster } from "../rig/cluster.ts"
import { fillGalley, seedGalley } from "./seed-galley.ts"

const SMALLEST = 10_000
const RUNNERS = 8
const CLAIMS_A_TURN = 400

/** Whether a claim takes longer the more jobs are waiting and finished: tables of three sizes take turns. */
export async function benchGrowth(cluster: Cluster, { quick, note }: BenchOptions): Promise<Bar[]> {
  if (quick) note("growth: the table of 1,000,000 waiting and 1,000,000 finished jobs is left out with QUICK=1")
  const sizes = quick ? [SMALLEST, 100_000] : [SMALLEST, 100_000, 1_000_000]
  const stores: Record<string, Store> = {}
  try {
    for (const size of sizes) stores[size] = await fillStore(await cluster.createDatabase(`growth_${size}`, { migrated: true }), size, note)
    const turns = Object.fromEntries(Object.entries(stores).map(([size, store]) => [size, () => claimRate(store)]))
    const rates = await takeTurns(turns, quick ? 5 : 9)
    const smallest = rates[SMALLEST] ?? []
    return sizes.slice(1).map((size) => {
      const { median: ratio, low, high } = ratios(rates[size] ?? [], smallest)
      note(`growth to ${size}: ${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}) of the rate at ${SMALLEST}`)
      const facts = {
        bench: "queue",
        metric: `claims/s with ${size} waiting and ${size} finished jobs, beside ${SMALLEST} of each`,
        peers: {},
      }
      return judge({ ...facts, ours: median(rates[size] ?? []), limit: median(smallest), ratio }, { atLeast: 0.9 })
    })
  } finally {
    for (const store of Object.values(stores)) await store.close()
  }
}

async function fillStore(url: string, size: number, note: (line: string) => void): Promise<Store> {
  const startedAt = performance.now()
  const store = await openStore({
    url,
    keyRing: { current: { id: "bench", key: randomBytes(32) } },
    statementTimeoutMs: 600_000,
    onError: (error) => note(`background fault: ${error}`),
  })
  await seedGalley(store.sql)
  await fillGalley(store.sql, { waiting: size, finished: size, firstNumber: 1 })
  await store.sql`insert into runners (id, name, token_hash) values (gen_random_uuid(), 'bench', 'x')`
  await store.sql`vacuum analyze review_jobs`
  await store.sql`vacuum analyze pull_requests`
  note(`growth: ${size} jobs written in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  return store
}

/** Claims for eight runners at a time, as one lease desk does; then ends these jobs, outside the measurement, so that none piles up. */
async function claimRate(store: Store): Promise<number> {
  const [runner] = await store.sql<[{ id: string }]>`select id from runners`
  const startedAt = performance.now()
  let claims = 0
  while (claims < CLAIMS_A_TURN) {
    const requests = Array.from({ length: RUNNERS }, () => ({
      requestId: randomUUID(),
      runnerId: runner.id,
      workspaceId: null,
      kinds: ["diff", "dynamic"] as const,
    }))
    const leases = await claimJobs(store, requests)
    if (leases.length !== RUNNERS) throw new Error(`${leases.length} of ${RUNNERS} runners got a job`)
    claims += leases.length
  }
  const perSecond = (claims * 1000) / (performance.now() - startedAt)
  await store.sql`
    update review_jobs set state = 'succeeded', finished_at = now(), lease_token_hash = null, lease_expires_at = null where state = 'running'`
  return perSecond
}
