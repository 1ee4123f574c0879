import { randomBytes, randomUUID } from "node:crypto"
import { openLeaseDesk } from "@galley/server/lease-desk"
import { openStore, type Store } from "@galley/store/database"
import { openIntake } from "@galley/store/intake/take-delivery"
import { openCompletion } from "@galley/store/queue/complete-job"
import { skipped } from "../../tests/integration/reviewed-result.ts"
import { type Contender, POOL } from "./contender.ts"
import { fillGalley, type SeededProject, seedGalley } from "./seed-galley.ts"

const WAIT_MS = 25_000

/** Galley's own verbs in this process: jobs come in as deliveries, go out through the lease desk, and end with a stored result. */
export async function openGalleyQueue(url: string, onError: (error: unknown) => void): Promise<Contender & { store: Store }> {
  const store = await openStore({ url, keyRing: { current: { id: "bench", key: randomBytes(32) } }, maxConnections: POOL, onError })
  const projects = await seedGalley(store.sql)
  const intake = openIntake(store)
  const complete = openCompletion(store)
  const desk = await openLeaseDesk({ store })
  const [runner] = await store.sql<[{ id: string }]>`
    insert into runners (id, name, token_hash) values (gen_random_uuid(), 'bench', 'x') returning id`
  const never = new AbortController().signal
  let number = 0
  return {
    store,
    enqueue: async () => {
      const its = ++number
      const project = projects[its % projects.length]
      if (project === undefined) throw new Error("there is no project")
      const taken = await intake.take(deliveryOf(project, its), () => ({
        step: { action: "enqueue", debounceMs: 0 },
        pullRequest: pullRequest(its),
      }))
      if (taken === null || taken.duplicate || taken.outcome !== "queued") throw new Error("a delivery queued nothing")
    },
    cycle: async () => {
      const request = { requestId: randomUUID(), runnerId: runner.id, workspaceId: null, kinds: ["diff", "dynamic"] as const }
      const lease = await desk.wait(request, WAIT_MS, never)
      if (lease === null) return false
      await complete(lease, skipped(lease))
      return true
    },
    fill: async (jobs) => {
      await fillGalley(store.sql, { waiting: jobs, finished: 0, firstNumber: number + 1 })
      number += jobs
    },
    analyze: async () => {
      await store.sql`vacuum analyze review_jobs`
      await store.sql`vacuum analyze pull_requests`
      await store.sql`vacuum analyze webhook_deliveries`
      await store.sql`vacuum analyze review_runs`
    },
    close: async () => {
      await desk.close()
      await store.close()
    },
  }
}

function deliveryOf(project: SeededProject, pullRequestNumber: number) {
  return { ...project, deliveryId: randomUUID(), event: "pull_request", action: "opened", pullRequestNumber }
}

function pullRequest(number: number) {
  return {
    number,
    title: "Count money in whole cents",
    description: "Floating point loses cents in long baskets.",
    author: "octocat",
    baseRef: "main",
    baseSha: "b".repeat(40),
    headRef: "cents",
    headSha: "a".repeat(40),
    webUrl: `https://github.example/octo/checkout/pull/${number}`,
    draft: false,
    open: true,
    updatedAt: new Date(),
  }
}
