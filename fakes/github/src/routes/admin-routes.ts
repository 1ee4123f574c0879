import { Hono } from "hono"
import { z } from "zod"
import { WriteComment } from "../actions/comments.ts"
import { RegisterInstallation } from "../actions/installations.ts"
import { EditPullRequest, OpenPullRequest } from "../actions/pull-requests.ts"
import { RegisterRepository } from "../actions/repositories.ts"
import type { Actions } from "../bind-actions.ts"
import type { Context, Env } from "../context.ts"
import { Fault } from "../fault.ts"
import { readJson } from "../read-json.ts"
import { fullNameOf } from "../state.ts"
import { commentView } from "../views/comment-view.ts"
import { installationView } from "../views/installation-view.ts"
import { pullRequestView } from "../views/pull-request-view.ts"
import { repositoryView } from "../views/repository-view.ts"

/** Every action on a pull request and the fields it takes beside `repo` and `number`. */
const name = { repo: z.string(), number: z.int().positive() }
const Push = z.strictObject({ ...name, headSha: z.string() })
const Close = z.strictObject({ ...name, merged: z.boolean().default(false) })
const Name = z.strictObject(name)
const Draft = z.strictObject({ ...name, draft: z.boolean() })
const Lock = z.strictObject({ ...name, locked: z.boolean() })
const Edit = z.strictObject({ ...name, ...EditPullRequest.shape })
const EditComment = z.strictObject({ id: z.int(), body: z.string(), editor: z.string() })
const Webhook = z.strictObject({
  url: z.url().nullable().exactOptional(),
  secret: z.string().exactOptional(),
  enterpriseHost: z.string().nullable().exactOptional(),
})
const Drop = z.strictObject({
  event: z.string().nullable().exactOptional(),
  times: z.int().positive().exactOptional(),
  listed: z.boolean().exactOptional(),
})
const Id = z.strictObject({ id: z.int().positive() })

/**
 * The actions for other processes: JSON over `/_fake/...`, no credentials (the listener is on the loopback address).
 * No GitHub login starts with an underscore, so these addresses collide with nothing.
 */
export function adminRoutes({ state, links, faults, outbox }: Context, actions: Actions): Hono<Env> {
  const routes = new Hono<Env>().basePath("/_fake")

  routes.get("/state", (c) =>
    c.json({
      app: { id: state.app.id, slug: state.app.slug, clientId: state.app.clientId },
      installations: [...state.installations.values()].map((one) => installationView(one, state.app, links)),
      repositories: [...state.repositories.values()].map((one) => ({
        id: one.id,
        fullName: fullNameOf(one),
        pulls: [...one.pullRequests.keys()],
      })),
    }),
  )
  routes.post("/installations", async (c) =>
    c.json(installationView(await actions.registerInstallation(await readJson(c, RegisterInstallation)), state.app, links), 201),
  )
  routes.post("/installations/suspend", async (c) => {
    const { id, suspended } = await readJson(c, Id.extend({ suspended: z.boolean() }))
    await actions.suspendInstallation(id, suspended)
    return c.body(null, 204)
  })
  routes.post("/installations/delete", async (c) => {
    await actions.deleteInstallation((await readJson(c, Id)).id)
    return c.body(null, 204)
  })
  routes.post("/repositories", async (c) =>
    c.json(repositoryView(await actions.registerRepository(await readJson(c, RegisterRepository)), links), 201),
  )

  routes.post("/pulls", async (c) =>
    c.json(pullRequestView(state, await actions.openPullRequest(await readJson(c, OpenPullRequest)), links), 201),
  )
  routes.post("/pulls/push", async (c) => {
    const { headSha, ...pull } = await readJson(c, Push)
    return c.json(pullRequestView(state, await actions.pushHead(pull, headSha), links))
  })
  routes.post("/pulls/close", async (c) => {
    const { merged, ...pull } = await readJson(c, Close)
    return c.json(pullRequestView(state, await actions.closePullRequest(pull, merged), links))
  })
  routes.post("/pulls/reopen", async (c) => c.json(pullRequestView(state, await actions.reopenPullRequest(await readJson(c, Name)), links)))
  routes.post("/pulls/draft", async (c) => {
    const { draft, ...pull } = await readJson(c, Draft)
    return c.json(pullRequestView(state, await actions.setDraft(pull, draft), links))
  })
  routes.post("/pulls/lock", async (c) => {
    const { locked, ...pull } = await readJson(c, Lock)
    return c.json(pullRequestView(state, await actions.lockPullRequest(pull, locked), links))
  })
  routes.post("/pulls/edit", async (c) => {
    const { repo, number, ...edit } = await readJson(c, Edit)
    return c.json(pullRequestView(state, await actions.editPullRequest({ repo, number }, edit), links))
  })

  routes.get("/comments", (c) => {
    const pull = Name.parse({ repo: c.req.query("repo"), number: Number(c.req.query("number")) })
    return c.json(actions.comments(pull).map((comment) => commentView(state, comment, links)))
  })
  routes.post("/comments", async (c) => c.json(commentView(state, await actions.writeComment(await readJson(c, WriteComment)), links), 201))
  routes.post("/comments/edit", async (c) => {
    const { id, body, editor } = await readJson(c, EditComment)
    return c.json(commentView(state, await actions.editComment(id, body, editor), links))
  })

  routes.get("/requests", (c) => c.json(actions.requests()))
  routes.delete("/requests", (c) => {
    actions.clearRequests()
    return c.body(null, 204)
  })
  routes.get("/deliveries", (c) => c.json(actions.deliveries()))
  routes.post("/deliveries/redeliver", async (c) => {
    const { id } = await readJson(c, Id)
    return c.json(await actions.redeliver(id))
  })
  routes.put("/webhook", async (c) => {
    actions.setWebhook(await readJson(c, Webhook))
    return c.body(null, 204)
  })
  routes.post("/webhook/drops", async (c) => {
    actions.dropWebhooks(await readJson(c, Drop))
    return c.body(null, 204)
  })
  routes.post("/users", async (c) =>
    c.json(actions.registerUser((await readJson(c, z.strictObject({ login: z.string().min(1) }))).login), 201),
  )
  routes.post("/tokens/expire", (c) => {
    actions.expireTokens()
    return c.body(null, 204)
  })
  routes.get("/faults", (c) => c.json(faults.list()))
  routes.post("/faults", async (c) => {
    actions.addFault(await readJson(c, Fault))
    return c.body(null, 204)
  })
  routes.delete("/faults", (c) => {
    actions.clearFaults()
    return c.body(null, 204)
  })
  routes.get("/idle", async (c) => {
    await outbox.idle()
    return c.body(null, 204)
  })
  return routes
}
