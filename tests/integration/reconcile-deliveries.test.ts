import { reconcileDeliveries } from "@galley/server/reconcile-deliveries"
import { expect, test, vi } from "vitest"
import { listen } from "./listen.ts"
import { never, type OutageRig, REPO, startOutage } from "./reconciler-fixture.ts"

/** From now on webhooks reach the server; `answer` may lose what it answered. */
async function connect({ server }: OutageRig, answer = (given: Response): Response => given): Promise<void> {
  const url = await listen(async (request) => answer(await server.app.fetch(request)))
  server.github.setWebhook({ url: `${url}/webhooks/github` })
}

/** Deliveries that GitHub lists as failed. */
async function failDeliveries({ server }: OutageRig, count: number): Promise<void> {
  server.github.dropWebhooks({ times: count })
  for (let index = 0; index < count; index++) await server.github.lockPullRequest({ repo: REPO, number: 1 }, index % 2 === 0)
}

async function reconcile({ server }: OutageRig, bounds?: { pages: number; requests: number }): Promise<number> {
  const asked = await reconcileDeliveries(server.context, never, bounds)
  await server.github.idle()
  return asked
}

const missed = ({ server }: OutageRig) =>
  server.context.store.sql<{ requests: number; succeeded: boolean }[]>`select requests, succeeded from missed_deliveries`

// R-INTAKE-13
test("asks for a delivery that failed during an outage, and the pull request is reviewed once", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  expect(await rig.jobs()).toEqual([])

  await connect(rig)
  expect(await reconcile(rig)).toBe(1)
  expect(await rig.jobs()).toMatchObject([{ state: "waiting", cause: "event", headSha: rig.shas[1] }])
  expect(await reconcile(rig)).toBe(0)
  expect(await rig.jobs()).toHaveLength(1)
})

test("asks for a delivery three times at most, after ever longer pauses", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  const askedAfter = async (minutes: number) => {
    await rig.server.context.store.sql`update missed_deliveries set requested_at = now() - ${minutes} * interval '1 minute'`
    return reconcile(rig)
  }

  expect(await reconcile(rig)).toBe(1)
  expect([await askedAfter(9), await askedAfter(11)]).toEqual([0, 1])
  expect([await askedAfter(39), await askedAfter(41)]).toEqual([0, 1])
  expect(await askedAfter(24 * 60)).toBe(0)
  expect(await missed(rig)).toMatchObject([{ requests: 3 }])
})

test("does not ask for a delivery that was taken although its answer was lost", async () => {
  const rig = await startOutage()
  await connect(rig, () => new Response(null, { status: 502 }))
  await rig.openPullRequest()
  expect(await rig.jobs()).toHaveLength(1)

  expect(await reconcile(rig)).toBe(0)
})

test("does not ask for a delivery of which another attempt succeeded", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  const [failed] = rig.server.github.deliveries().slice(-1)
  rig.server.github.setWebhook({ url: await listen(() => new Response(null, { status: 202 })) })
  await rig.server.github.redeliver(failed?.id ?? 0)

  expect(await reconcile(rig)).toBe(0)
  expect(await missed(rig)).toMatchObject([{ succeeded: true }])
})

test("reads no more pages in a run than its bound and goes on from the stored one", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  await failDeliveries(rig, 120)
  const bounds = { pages: 1, requests: 200 }

  expect(await reconcile(rig, bounds)).toBe(0)
  expect(await missed(rig)).toHaveLength(100)
  expect(await reconcile(rig, bounds)).toBe(121)
})

test("reads only what is new once a pass was complete", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  await failDeliveries(rig, 120)
  await reconcile(rig)
  // Passes overlap by some minutes, and all of these were sent just now.
  await rig.server.context.store.sql`update delivery_scans set scanned_until = now() + interval '1 hour'`
  rig.server.github.clearRequests()

  await reconcile(rig, { pages: 20, requests: 0 })
  expect(rig.server.github.requests().filter(({ path }) => path.includes("/app/hook/deliveries"))).toHaveLength(1)
})

test("stops at a rate limit without spending the request, and goes on when it is over", async () => {
  const rig = await startOutage()
  const { github } = rig.server
  await rig.openPullRequest()
  await connect(rig)
  github.addFault({ method: "POST", path: "/app/hook/deliveries/*/attempts", effect: { kind: "secondary_limit", retryAfterSeconds: 1 } })

  await expect(reconcile(rig)).rejects.toMatchObject({ code: "github_rate_limited" })
  expect(await missed(rig)).toMatchObject([{ requests: 0 }])
  await expect(reconcile(rig)).rejects.toMatchObject({ code: "github_rate_limited" })
  expect(await vi.waitFor(() => reconcile(rig), { timeout: 5_000, interval: 200 })).toBe(1)
  expect(await rig.jobs()).toHaveLength(1)
})

test("counts a request before it is made, so that a server that dies meanwhile cannot ask without end", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  rig.server.github.addFault({ method: "POST", path: "/app/hook/deliveries/*/attempts", effect: { kind: "apply_then_destroy" } })

  await expect(reconcile(rig)).rejects.toMatchObject({ code: "github_unavailable" })
  expect(await missed(rig)).toMatchObject([{ requests: 1 }])
})

test("leaves deliveries alone that GitHub no longer sends again", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  await reconcile(rig, { pages: 20, requests: 0 })
  await rig.server.context.store.sql`update missed_deliveries set delivered_at = now() - interval '73 hours'`

  expect(await reconcile(rig)).toBe(0)
})

test("does not let a delivery that GitHub forgot hold up the others", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  await rig.openPullRequest({ number: 2 })
  await connect(rig)
  rig.server.github.addFault({
    method: "POST",
    path: "/app/hook/deliveries/*/attempts",
    effect: { kind: "status", status: 404, message: "Not Found" },
  })

  expect(await reconcile(rig)).toBe(2)
  expect(await rig.jobs()).toMatchObject([{ number: 2 }])
})
