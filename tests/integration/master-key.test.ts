// R-DATA-1

import { randomBytes } from "node:crypto"
import { openServer } from "@galley/server/open-server"
import { resolveModel } from "@galley/store/providers/resolve-model"
import { saveModelProvider } from "@galley/store/providers/save-model-provider"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { startTestServer, type TestServer } from "./server-fixture.ts"

/** Another start on the same database. */
async function startAgain({ context }: TestServer, ...masterKeys: Buffer[]) {
  const server = await openServer({ ...context.config, masterKeys }, pino({ level: "silent" }))
  onTestFinished(() => server.close())
  return server
}

/** A server whose workspace has a provider that the environment does not name. */
async function started(): Promise<{ server: TestServer; key: Buffer }> {
  const server = await startTestServer()
  const { store, workspaceId, config } = server.context
  const [key] = config.masterKeys
  if (key === undefined) throw new Error("a server has a master key")
  const model = { logical: "theirs", upstream: "m", contextTokens: 128_000, outputTokens: 8_192, price: null }
  const provider = { workspaceId, name: "theirs", baseUrl: "http://127.0.0.1:9/v1", models: [model], defaultModel: "theirs" }
  await saveModelProvider(store, store.sql, { ...provider, apiKey: "their key" })
  return { server, key }
}

test("refuses to start with a master key that did not seal what is stored, and changes nothing", async () => {
  const { server } = await started()
  const seals = () =>
    server.context.store.sql`select sealed_private_key from github_hosts union all select sealed_api_key from model_providers`
  const before = await seals()
  await expect(startAgain(server, randomBytes(32))).rejects.toMatchObject({
    code: "config_invalid",
    details: { unknown: server.context.store.keyRing.current.id },
  })
  expect(await seals()).toEqual(before)
})

test("starts with a new master key beside the previous one, and opens what that one sealed", async () => {
  const { server, key } = await started()
  const next = await startAgain(server, randomBytes(32), key)
  expect(await resolveModel(next.context.store, server.context.workspaceId, "theirs")).toMatchObject({ apiKey: "their key" })
})
