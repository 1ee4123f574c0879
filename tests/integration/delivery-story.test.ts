import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { DeliveryAnswer } from "@galley/server/pages/delivery-answer"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { expect, test } from "vitest"
import { member, seedPagesTenant, startPages } from "./pages-fixture.ts"

const opened = JSON.parse(readFileSync(new URL("../../packages/github/src/fixtures/webhooks/pr.opened.json", import.meta.url), "utf8"))

test("tells for a delivery why there is no review: its reason, or what became of the job it queued", async () => {
  const { server, owner, tenant } = await startPages()
  const { store } = server.context
  await store.sql`update projects set host_id = ${server.context.hostId}, github_repository_id = ${opened.repository.id}`
  await store.sql`update installations set host_id = ${server.context.hostId}, github_installation_id = ${opened.installation.id}`
  const ids = [randomUUID(), randomUUID()]
  const draft = { ...opened, pull_request: { ...opened.pull_request, draft: true, updated_at: "2019-05-15T15:20:00Z" } }
  await server.deliver("pull_request", draft, { "x-github-delivery": ids[0] ?? "" })
  await server.deliver("pull_request", opened, { "x-github-delivery": ids[1] ?? "" })
  const tell = async (id: string | undefined) => DeliveryAnswer.parse(await owner.getJson(`${tenant.base}/deliveries/${id}`))

  expect(await tell(ids[0])).toMatchObject({ delivery: { outcome: "ignored", reason: "draft", pullRequestNumber: 2 }, job: null })
  const { job } = await tell(ids[1]?.toUpperCase())
  expect(job).toMatchObject({ state: "waiting", code: null, headSha: opened.pull_request.head.sha })
  await cancelJob(store, tenant.workspaceId, job?.id ?? "", "octocat")
  expect(await tell(ids[1])).toMatchObject({ job: { state: "cancelled", code: "cancelled_by_user" } })
})

test("tells nothing of another workspace's delivery, nor to somebody who is not signed in", async () => {
  const { server, tenant } = await startPages()
  const stranger = await seedPagesTenant(server)
  const visitor = await member(server, stranger, "owner")
  const id = randomUUID()
  await server.context.store.sql`
    insert into webhook_deliveries (host_id, delivery_id, event, workspace_id) values (${tenant.hostId}, ${id}, 'push', ${tenant.workspaceId})`

  expect((await visitor.get(`${stranger.base}/deliveries/${id}`)).status).toBe(404)
  expect((await visitor.get(`${tenant.base}/deliveries/${id}`)).status).toBe(404)
  expect((await visitor.get(`${stranger.base}/deliveries/not-a-delivery`)).status).toBe(404)
})
