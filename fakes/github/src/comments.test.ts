import { afterAll, beforeAll, expect, test } from "vitest"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import { ask, field, installationToken } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"

let repository: TestRepository
let fake: FakeGitHub
let token: string
let number = 0

beforeAll(async () => {
  repository = await createTestRepository()
  fake = await startFakeGitHub({ slug: "reviewer" })
  await fake.registerRepository({
    owner: "acme",
    name: "shop",
    gitDirectory: repository.directory,
    installationId: 7,
    collaborators: { ada: "write" },
  })
  token = await installationToken(fake, 7)
})

afterAll(async () => {
  await Promise.all([fake?.close(), repository?.remove()])
})

/** Opens a pull request of its own for a test and returns the address of its comments. */
async function freshComments(): Promise<string> {
  const opened = await fake.openPullRequest({
    repo: "acme/shop",
    baseSha: repository.base,
    headRef: `branch-${number}`,
    headSha: repository.head,
  })
  number = opened.number
  return `/repos/acme/shop/issues/${number}/comments`
}

const post = (path: string, body: unknown) => ask(fake.apiUrl, "POST", path, { token, body })

test("the App writes as its bot, and people as themselves with their association", async () => {
  const address = await freshComments()
  await post(address, { body: "From the App" })
  await fake.writeComment({ repo: "acme/shop", number, author: "ada", body: "/review" })
  await fake.writeComment({ repo: "acme/shop", number, author: "stranger", body: "/review" })
  const { body } = await ask(fake.apiUrl, "GET", address, { token })
  expect(body).toMatchObject([
    { user: { login: "reviewer[bot]", type: "Bot" }, performed_via_github_app: { slug: "reviewer" }, body: "From the App" },
    { user: { login: "ada", type: "User" }, author_association: "COLLABORATOR", performed_via_github_app: null },
    { user: { login: "stranger" }, author_association: "NONE" },
  ])
})

test("a comment is read, changed and removed by its id", async () => {
  const created = await post(await freshComments(), { body: "One" })
  const address = `/repos/acme/shop/issues/comments/${field(created.body, "id")}`
  const changed = await ask(fake.apiUrl, "PATCH", address, { token, body: { body: "Two" } })
  expect(field(changed.body, "body")).toBe("Two")
  expect(field((await ask(fake.apiUrl, "GET", address, { token })).body, "body")).toBe("Two")
  expect((await ask(fake.apiUrl, "DELETE", address, { token })).status).toBe(204)
  expect((await ask(fake.apiUrl, "GET", address, { token })).status).toBe(404)
})

test("a blank comment and one over 65,536 characters are refused", async () => {
  const address = await freshComments()
  expect((await post(address, { body: "  \n" })).status).toBe(422)
  expect((await post(address, { body: "é".repeat(65_537) })).status).toBe(422)
  expect((await post(address, { body: "é".repeat(65_536) })).status).toBe(201)
})

test("a body that is not JSON is refused with 400", async () => {
  const response = await fetch(fake.apiUrl + (await freshComments()), {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: "{",
  })
  expect(response.status).toBe(400)
})

test("a locked conversation takes no comment of the App", async () => {
  const address = await freshComments()
  await fake.lockPullRequest({ repo: "acme/shop", number }, true)
  expect((await post(address, { body: "Too late" })).status).toBe(403)
})

test("the same reaction again is answered 200 and counted once", async () => {
  const created = await post(await freshComments(), { body: "One" })
  const address = `/repos/acme/shop/issues/comments/${field(created.body, "id")}`
  const statuses = [await post(`${address}/reactions`, { content: "eyes" }), await post(`${address}/reactions`, { content: "eyes" })]
  expect(statuses.map(({ status }) => status)).toEqual([201, 200])
  const { body } = await ask(fake.apiUrl, "GET", address, { token })
  expect(body).toMatchObject({ reactions: { total_count: 1, eyes: 1 } })
})

test("a long list comes in pages of 30 that Link leads through", async () => {
  const address = await freshComments()
  for (let n = 0; n < 65; n++) await fake.writeComment({ repo: "acme/shop", number, body: `Comment ${n}` })
  const seen: unknown[] = []
  const sizes: number[] = []
  let next: string | undefined = fake.apiUrl + address
  while (next) {
    const page = await ask(next, "GET", "", { token })
    const comments = Array.isArray(page.body) ? page.body : []
    seen.push(...comments.map((one) => one.body))
    sizes.push(comments.length)
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1]
  }
  expect(sizes).toEqual([30, 30, 5])
  expect(seen).toEqual(Array.from({ length: 65 }, (_, n) => `Comment ${n}`))
})

test("per_page is honoured up to 100, and a short list has no Link", async () => {
  const address = await freshComments()
  for (let n = 0; n < 3; n++) await fake.writeComment({ repo: "acme/shop", number, body: `Comment ${n}` })
  const two = await ask(fake.rootApiUrl, "GET", `${address}?per_page=2&page=2`, { token })
  expect(two.body).toHaveLength(1)
  expect(two.headers.get("link")).toContain(`<${fake.rootApiUrl}${address}?per_page=2&page=1>; rel="prev"`)
  expect((await ask(fake.apiUrl, "GET", `${address}?per_page=1000`, { token })).headers.get("link")).toBeNull()
})

test("a person can change what the App wrote", async () => {
  const created = await post(await freshComments(), { body: "State" })
  await fake.editComment(Number(field(created.body, "id")), "Tampered", "ada")
  expect(fake.comments({ repo: "acme/shop", number }).map(({ body, author }) => [body, author.login])).toEqual([
    ["Tampered", "reviewer[bot]"],
  ])
})

test("the page of a pull request shows its comments as text", async () => {
  await freshComments()
  await fake.writeComment({ repo: "acme/shop", number, body: "<script>alert(1)</script>" })
  const page = await (await fetch(`${fake.url}/acme/shop/pull/${number}`)).text()
  expect(page).toContain("&lt;script&gt;")
  expect(page).not.toContain("<script>")
})
