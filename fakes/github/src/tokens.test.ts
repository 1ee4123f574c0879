import { generateKeyPairSync } from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import { appToken, ask, field, installationToken } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"

let repository: TestRepository
let fake: FakeGitHub
let clockMs = Date.now()

beforeAll(async () => {
  repository = await createTestRepository()
  fake = await startFakeGitHub({ now: () => clockMs })
  const gitDirectory = repository.directory
  await fake.registerRepository({ owner: "acme", name: "shop", id: 500, gitDirectory, installationId: 7 })
  await fake.registerRepository({ owner: "acme", name: "bank", id: 501, gitDirectory, installationId: 7 })
  await fake.registerRepository({ owner: "other", name: "secret", gitDirectory, installationId: 8 })
  await fake.registerRepository({ owner: "other", name: "open", gitDirectory, private: false, installationId: 8 })
  for (const repo of ["acme/shop", "acme/bank", "other/open"]) {
    await fake.openPullRequest({ repo, number: 1, baseSha: repository.base, headRef: "feature", headSha: repository.head })
  }
})

afterAll(async () => {
  await Promise.all([fake?.close(), repository?.remove()])
})

const now = () => Math.floor(clockMs / 1000)
const statusOf = async (path: string, token?: string) => (await ask(fake.apiUrl, "GET", path, token ? { token } : {})).status
const comment = async (repo: string, token: string) =>
  (await ask(fake.apiUrl, "POST", `/repos/${repo}/issues/1/comments`, { token, body: { body: "Hello" } })).status

test("an App token in its time is accepted, by App id and by client id", async () => {
  expect(await statusOf("/app", appToken(fake))).toBe(200)
  expect(await statusOf("/app", appToken(fake, { iss: fake.state.app.clientId, exp: now() + 600 }))).toBe(200)
})

test.each([
  ["that ends more than 10 minutes ahead", () => ({ exp: now() + 660 }), 401],
  ["that has ended", () => ({ exp: now() - 1 }), 401],
  ["that was issued in the future", () => ({ iat: now() + 120 }), 401],
  ["without an issue time", () => ({ iat: undefined }), 401],
  ["of another App", () => ({ iss: 999 }), 404],
])("an App token %s is refused", async (_, claims, status) => {
  expect(await statusOf("/app", appToken(fake, claims()))).toBe(status)
})

test("an App token signed with another key is refused", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const token = appToken(fake, {}, privateKey.export({ type: "pkcs8", format: "pem" }).toString())
  expect(await statusOf("/app", token)).toBe(401)
})

test("an installation token does not act as the App, nor the App's token as an installation", async () => {
  expect(await statusOf("/app", await installationToken(fake, 7))).toBe(401)
  expect(await statusOf("/installation/repositories", appToken(fake))).toBe(403)
})

test("a token reaches every repository of its installation and no private one of another", async () => {
  const token = await installationToken(fake, 7)
  expect(await Promise.all(["acme/shop", "acme/bank", "other/secret"].map((repo) => statusOf(`/repos/${repo}`, token)))).toEqual([
    200, 200, 404,
  ])
})

test.each([
  ["id", { repository_ids: [500] }],
  ["name", { repositories: ["shop"] }],
])("a token narrowed by repository %s reaches that one only", async (_, narrowing) => {
  const token = await installationToken(fake, 7, narrowing)
  expect(await statusOf("/repos/acme/shop", token)).toBe(200)
  expect(await statusOf("/repos/acme/bank", token)).toBe(404)
  expect(await comment("acme/bank", token)).toBe(404)
  const { body } = await ask(fake.apiUrl, "GET", "/installation/repositories", { token })
  expect(field(body, "total_count")).toBe(1)
})

test("a token narrowed to reading contents can neither write comments nor read pull requests", async () => {
  const token = await installationToken(fake, 7, { repository_ids: [500], permissions: { contents: "read" } })
  expect(await statusOf("/repos/acme/shop/contents/src?ref=main", token)).toBe(200)
  expect(await comment("acme/shop", token)).toBe(403)
  expect(await statusOf("/repos/acme/shop/pulls/1", token)).toBe(403)
})

test("a token narrowed to writing comments cannot read contents", async () => {
  const token = await installationToken(fake, 7, { permissions: { pull_requests: "write" } })
  expect(await comment("acme/shop", token)).toBe(201)
  expect(await statusOf("/repos/acme/shop/contents/src?ref=main", token)).toBe(403)
})

test.each([
  ["a repository outside the installation", { repositories: ["secret"] }],
  ["more than the installation grants", { permissions: { contents: "write" } }],
  ["a permission the installation lacks", { permissions: { actions: "read" } }],
])("a token for %s is not issued", async (_, body) => {
  const answer = await ask(fake.apiUrl, "POST", "/app/installations/7/access_tokens", { token: appToken(fake), body })
  expect(answer.status).toBe(422)
})

test("what is public can be read without a token but not written with a foreign one", async () => {
  expect(await statusOf("/repos/other/open")).toBe(200)
  expect(await comment("other/open", await installationToken(fake, 7))).toBe(403)
})

test("a token ends after an hour", async () => {
  const token = await installationToken(fake, 7)
  clockMs += 3_599_000
  expect(await statusOf("/repos/acme/shop", token)).toBe(200)
  clockMs += 2000
  expect(await statusOf("/repos/acme/shop", token)).toBe(401)
  clockMs -= 3_601_000
})

test("a token ends when it is revoked and when all tokens are", async () => {
  const [revoked, expired] = [await installationToken(fake, 7), await installationToken(fake, 7)]
  await ask(fake.apiUrl, "DELETE", "/installation/token", { token: revoked })
  expect(await statusOf("/repos/acme/shop", revoked)).toBe(401)
  fake.expireTokens()
  expect(await statusOf("/repos/acme/shop", expired)).toBe(401)
})

test("a suspended installation gets no token and its tokens are refused until it wakes", async () => {
  const token = await installationToken(fake, 8)
  await fake.suspendInstallation(8, true)
  const issue = () => ask(fake.apiUrl, "POST", "/app/installations/8/access_tokens", { token: appToken(fake) })
  expect((await issue()).status).toBe(403)
  expect(await statusOf("/repos/other/secret", token)).toBe(403)
  await fake.suspendInstallation(8, false)
  expect((await issue()).status).toBe(201)
  expect(await statusOf("/repos/other/secret", token)).toBe(200)
})

test("a deleted installation is unknown and its tokens are dead", async () => {
  await fake.registerRepository({ owner: "third", name: "gone", gitDirectory: repository.directory, installationId: 9 })
  const token = await installationToken(fake, 9)
  await fake.deleteInstallation(9)
  const answer = await ask(fake.apiUrl, "POST", "/app/installations/9/access_tokens", { token: appToken(fake) })
  expect(answer.status).toBe(404)
  expect(await statusOf("/repos/third/gone", token)).toBe(401)
})

test("a request is recorded with who made it and never with a token", async () => {
  const token = await installationToken(fake, 7, { repository_ids: [500], permissions: { contents: "read" } })
  fake.clearRequests()
  await statusOf("/repos/acme/shop?x=1", token)
  await statusOf("/app", appToken(fake))
  await statusOf("/user", "nobody")
  expect(fake.requests()).toMatchObject([
    {
      method: "GET",
      path: "/api/v3/repos/acme/shop?x=1",
      status: 200,
      caller: { kind: "installation", installationId: 7, repositoryIds: [500], permissions: { contents: "read", metadata: "read" } },
    },
    { path: "/api/v3/app", status: 200, caller: { kind: "app" } },
    { path: "/api/v3/user", status: 401, caller: { kind: "refused" } },
  ])
  expect(JSON.stringify(fake.requests())).not.toContain(token)
})
