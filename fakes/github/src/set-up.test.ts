import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import { openApiJudge } from "./testing/openapi-judge.ts"
import { appToken, ask, field } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"

let repository: TestRepository
let fake: FakeGitHub

beforeAll(async () => {
  repository = await createTestRepository()
  fake = await startFakeGitHub({ clientSecret: "client secret" })
  fake.registerUser("ada")
  await fake.registerRepository({ owner: "acme", name: "shop", gitDirectory: repository.directory, collaborators: { ada: "admin" } })
})

afterAll(async () => {
  await Promise.all([fake?.close(), repository?.remove()])
})

const callback = "http://127.0.0.1:1/callback"
const visit = (address: string, init: RequestInit = {}) => fetch(address, { redirect: "manual", ...init })
const target = (response: Response) => new URL(response.headers.get("location") ?? "")

async function signIn(login: string): Promise<string> {
  const query = new URLSearchParams({ client_id: fake.state.app.clientId, redirect_uri: callback, state: "echo", login })
  const back = target(await visit(`${fake.url}/login/oauth/authorize?${query}`))
  expect(back.searchParams.get("state")).toBe("echo")
  return back.searchParams.get("code") ?? ""
}

const exchange = async (fields: Record<string, string>) => {
  const { clientId: client_id, clientSecret: client_secret } = fake.state.app
  const body = JSON.stringify({ client_id, client_secret, ...fields })
  const headers = { accept: "application/json", "content-type": "application/json" }
  return z
    .record(z.string(), z.unknown())
    .parse(await (await visit(`${fake.url}/login/oauth/access_token`, { method: "POST", headers, body })).json())
}

test("a person signs in with a code that works once, and a refresh token gives the next one", async () => {
  const code = await signIn("ada")
  const granted = await exchange({ code })
  expect(granted).toMatchObject({ token_type: "bearer", expires_in: 28_800 })
  expect(field((await ask(fake.apiUrl, "GET", "/user", { token: String(granted.access_token) })).body, "login")).toBe("ada")
  expect(await exchange({ code })).toMatchObject({ error: "bad_verification_code" })
  const renewed = await exchange({ grant_type: "refresh_token", refresh_token: String(granted.refresh_token) })
  expect((await ask(fake.apiUrl, "GET", "/user", { token: String(renewed.access_token) })).status).toBe(200)
})

test("a wrong client secret gets no token", async () => {
  expect(await exchange({ code: await signIn("ada"), client_secret: "wrong" })).toMatchObject({ error: "incorrect_client_credentials" })
})

test("without a named person the sign-in page offers everyone", async () => {
  const query = new URLSearchParams({ client_id: fake.state.app.clientId, redirect_uri: callback })
  expect(await (await visit(`${fake.url}/login/oauth/authorize?${query}`)).text()).toContain(">ada</a>")
})

test("a manifest becomes an App whose key and secrets work, and it can be installed", async () => {
  const manifest = {
    name: "Our Reviewer",
    redirect_url: callback,
    setup_url: "http://127.0.0.1:1/installed",
    hook_attributes: { url: "http://127.0.0.1:1/hook" },
    default_permissions: { contents: "read", pull_requests: "write" },
    default_events: ["pull_request"],
  }
  const form = new URLSearchParams({ manifest: JSON.stringify(manifest) })
  const code = target(await visit(`${fake.url}/settings/apps/new?state=s`, { method: "POST", body: form })).searchParams.get("code")
  const path = `/app-manifests/${code}/conversions`
  const answer = await ask(fake.apiUrl, "POST", path)
  for (const flavour of ["api.github.com", "ghes-3.17"] as const) {
    expect(openApiJudge(flavour).problems("POST", path, answer.status, answer.body)).toEqual([])
  }
  expect((await ask(fake.apiUrl, "POST", path)).status).toBe(404)
  const pem = String(field(answer.body, "pem"))
  const asApp = { token: appToken(fake, { iss: field(answer.body, "id") }, pem) }
  expect((await ask(fake.apiUrl, "GET", "/app", asApp)).body).toMatchObject({ slug: "our-reviewer", events: ["pull_request"] })

  const back = target(await visit(`${fake.url}/github-apps/our-reviewer/installations/new?account=acme`))
  expect(back.pathname).toBe("/installed")
  const id = back.searchParams.get("installation_id")
  expect((await ask(fake.apiUrl, "GET", `/app/installations/${id}`, asApp)).body).toMatchObject({ account: { login: "acme" } })
})
