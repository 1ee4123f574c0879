import { Lease, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { type OpenServer, openServer } from "@galley/server/open-server"
import { reconcileHeads } from "@galley/server/reconcile-heads"
import { completeJob } from "@galley/store/queue/complete-job"
import { expireLeases } from "@galley/store/queue/expire-leases"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { freshDatabase } from "./database.ts"
import { leaseRequest, REPO, resultOf, startReviewServer, until } from "./review-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"
import { makeDue } from "./store-fixture.ts"

const never = new AbortController().signal

/** Hands over a review of the leased head, as its runner does, and waits until it is published. */
async function finish({ context: { store } }: OpenServer, lease: Lease): Promise<void> {
  const [run] = await store.sql<[{ runnerId: string }]>`select runner_id as "runnerId" from review_runs where id = ${lease.leaseId}`
  await completeJob(store, { leaseId: lease.leaseId, leaseToken: lease.leaseToken, runnerId: run.runnerId }, resultOf(lease))
  const state = async () => (await store.sql<[{ state: string }]>`select state from review_jobs where id = ${lease.job.id}`)[0].state
  await until(state, (reached) => reached === "succeeded")
}

async function poll({ app }: OpenServer): Promise<Lease> {
  const answer = await app.request(`${RUNNER_PROTOCOL_PATH}/leases`, {
    method: "POST",
    body: JSON.stringify(leaseRequest()),
    headers: { authorization: `Bearer ${RUNNER_TOKEN}` },
  })
  return Lease.parse(await answer.json())
}

// F47
test("goes on from a copy of the database of an hour ago: the lost review is done again into its comment, the lost event is found", async () => {
  const server = await startReviewServer()
  const { github } = server
  const { config } = server.context
  await server.openPullRequest()
  const lease = await server.lease()
  await server.close()
  const copy = await freshDatabase({ copyOf: config.databaseUrl })

  const silent = pino({ level: "silent" })
  const lost = await openServer(config, silent)
  await finish(lost, lease)
  await lost.close()
  const [comment] = server.botComments()
  const { baseSha, headSha } = server.change
  await github.openPullRequest({ repo: REPO, number: 2, baseSha, headRef: "of-the-lost-hour", headSha })

  const restored = await openServer({ ...config, databaseUrl: copy.url }, silent)
  onTestFinished(() => restored.close())
  const { store } = restored.context
  await store.sql`update review_jobs set lease_expires_at = lease_expires_at - interval '1 hour'`
  await expect(finish(restored, lease)).rejects.toMatchObject({ code: "lease_lost" })
  expect(await expireLeases(store)).toMatchObject([{ jobId: lease.job.id, state: "waiting" }])
  await makeDue(store, lease.job.id)
  const again = await poll(restored)
  expect(again).toMatchObject({ job: { id: lease.job.id }, attempt: 2, prior: { state: { findings: [{ finding_id: "f1" }] } } })
  await finish(restored, again)
  expect(server.botComments().map(({ id }) => id)).toEqual([comment?.id])

  expect(await reconcileHeads(restored.context, never)).toBe(1)
  expect(await poll(restored)).toMatchObject({ job: { pullRequest: { number: 2 } } })
})
