import type { Lease } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { expect, onTestFinished, test } from "vitest"
import { leaseRequest, resultOf } from "../integration/review-fixture.ts"
import { type IntakeRig, type ServerOptions, type ServerProcess, startIntakeRig, until } from "./intake-rig.ts"
import { type ProtocolRunner, protocolRunner } from "./protocol-runner.ts"
import { shiftedClock } from "./shifted-clock.ts"
import { startSilentProxy } from "./silent-proxy.ts"

const beat = { phase: "reviewing", progress: "", usage: noUsage }

/** Two servers on one database, and open pull requests whose jobs wait. */
async function startTwo(pullRequests: number, options: readonly [ServerOptions, ServerOptions] = [{}, {}]) {
  const rig = await startIntakeRig()
  onTestFinished(() => rig.stop())
  const servers = [await rig.startServer(options[0]), await rig.startServer(options[1])] as const
  await rig.openPullRequests(servers[1], pullRequests)
  return { rig, servers, runner: protocolRunner(rig.runnerToken) }
}

async function leaseOf(runner: ProtocolRunner, server: ServerProcess): Promise<Lease> {
  const lease = await runner.poll(server)
  if (lease === null) throw new Error("nothing to lease")
  return lease
}

const busy = ({ sql }: IntakeRig) => sql<{ number: number; jobs: number }[]>`
  select q.number, count(*)::int as jobs from review_jobs j join pull_requests q on q.id = j.pull_request_id
  where j.state in ('running', 'publishing') group by 1 order by 1`

// F12
test("gives the same lease again, from any server, to a runner whose line broke after the answer", async () => {
  const { rig, servers, runner } = await startTwo(2)
  const [first, second] = servers
  const proxy = await startSilentProxy(Number(new URL(first.url).port))
  onTestFinished(() => proxy.close())
  const request = leaseRequest({ waitMs: 0 })
  proxy.holdAnswersAfter(request.requestId)
  const lost = runner.poll({ url: `http://127.0.0.1:${proxy.port}` }, request).catch((error: unknown) => error)
  await until(() => first.lines.some((line) => line.includes('"job leased"')))
  proxy.close()
  expect(await lost).toBeInstanceOf(Error)

  const [run] = await rig.sql<[{ id: string }]>`select id from review_runs`
  const again = await runner.poll(second, request)
  expect(again).toMatchObject({ leaseId: run.id, attempt: 1 })
  expect(await runner.poll(first, request)).toMatchObject({ leaseId: run.id, leaseToken: again?.leaseToken })
  expect(await busy(rig)).toHaveLength(1)
  if (again !== null) expect((await runner.on(second, again, "heartbeat", beat)).status).toBe(200)
})

const TRIALS = 1_000

// F13
test("gives two runners that claim at once, each at its own server, never one job nor two of one pull request, in a thousand trials", async () => {
  const { rig, servers, runner } = await startTwo(3)
  const [first, second] = servers
  const preferThird = () =>
    rig.sql`update review_jobs j set priority = 10 from pull_requests q where q.id = j.pull_request_id and q.number = 3`
  // The third pull request is worked on all the time, while its next job waits before all others.
  await preferThird()
  const held = await leaseOf(runner, first)
  await rig.sql`update review_jobs set lease_expires_at = now() + interval '1 hour' where state = 'running'`
  await rig.github.pushHead({ repo: "acme/shop", number: 3 }, held.job.baseSha)
  await rig.github.idle()
  await preferThird()

  const seen: (readonly number[])[] = []
  const kept: Lease[] = []
  for (let trial = 0; trial < TRIALS; trial++) {
    const got = (await Promise.all(servers.map((server) => runner.poll(server)))).filter((lease) => lease !== null)
    kept.push(...got)
    seen.push(kept.map(({ job }) => job.pullRequest.number).toSorted())
    // Both for both in one trial, one for both in the next one.
    const given = kept.splice(0, trial % 2 === 0 ? 1 : 2)
    for (const lease of given) expect((await runner.on(trial % 3 === 0 ? first : second, lease, "release")).status).toBe(200)
  }

  expect(seen.filter((numbers) => numbers.join() !== "1,2")).toEqual([])
  expect([...(await busy(rig))]).toEqual([{ number: 3, jobs: 1 }])
  const [runs] = await rig.sql`select count(*)::int as n, count(distinct (pull_request_id, fence))::int as fences from review_runs`
  expect(runs).toEqual({ n: 1 + (TRIALS / 2) * 3, fences: 1 + (TRIALS / 2) * 3 })
})

// F22
test.each([1, -1])("reviews as ever when the clock of one of two servers is %i h off", async (hours) => {
  const { rig, servers, runner } = await startTwo(2, [{}, { nodeArguments: [shiftedClock(hours)] }])
  const [right, wrong] = servers
  const leases = [await leaseOf(runner, wrong), await leaseOf(runner, right)]
  // Each claim settles what ran out by its server's time, if that were what counts.
  for (const server of servers) expect(await runner.poll(server)).toBeNull()
  for (const lease of leases) {
    for (const server of servers) expect(await (await runner.on(server, lease, "heartbeat", beat)).json()).toEqual({ action: "continue" })
    expect((await runner.on(wrong, lease, "credentials")).status).toBe(200)
    expect((await runner.on(wrong, lease, "result", resultOf(lease))).status).toBe(200)
  }
  const states = async () => (await rig.sql<{ state: string }[]>`select state from review_jobs`).map(({ state }) => state)
  await until(async () => (await states()).every((state) => state === "succeeded"))
  for (const number of [1, 2]) expect(rig.github.comments({ repo: "acme/shop", number })).toHaveLength(1)
  expect(await rig.sql`select from review_runs`).toHaveLength(2)
})
