import { afterAll, beforeAll, expect, test } from "vitest"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import { ask, field, installationToken } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"

let repository: TestRepository
let fake: FakeGitHub
let token: string
const name = { repo: "acme/shop", number: 1 }

beforeAll(async () => {
  repository = await createTestRepository()
  fake = await startFakeGitHub()
  await fake.registerRepository({ owner: "acme", name: "shop", gitDirectory: repository.directory, installationId: 7 })
  token = await installationToken(fake, 7)
  await fake.openPullRequest({ ...name, baseSha: repository.base, headRef: "feature", headSha: repository.head })
})

afterAll(async () => {
  await Promise.all([fake?.close(), repository?.remove()])
})

const get = async (path: string) => (await ask(fake.apiUrl, "GET", `/repos/acme/shop${path}`, { token })).body

test("the facts of a pull request are counted in git", async () => {
  expect(await get("/pulls/1")).toMatchObject({
    changed_files: 6,
    commits: 2,
    additions: 4,
    deletions: 3,
    head: { sha: repository.head },
    base: { sha: repository.base },
  })
})

test("files show their status, counts and hunks, and none for a rename or a binary file", async () => {
  expect(await get("/pulls/1/files")).toMatchObject([
    { filename: "data.bin", status: "added", additions: 0 },
    { filename: "gone.txt", status: "removed", deletions: 1, patch: "@@ -1 +0,0 @@\n-gone" },
    { filename: "kind", status: "changed" },
    { filename: "new name.txt", previous_filename: "old name.txt", status: "renamed", changes: 0 },
    { filename: "src/app.py", status: "modified", patch: "@@ -1,2 +1,3 @@\n one = 1\n-two = 2\n+two = 3\n+diff --git a/x b/x" },
    { filename: "src/new.ts", status: "added", additions: 1 },
  ])
  const files = await get("/pulls/1/files")
  expect([0, 3].map((at) => field(files, at, "patch"))).toEqual([undefined, undefined])
})

test("commits are listed oldest first, with the whole message", async () => {
  expect(await get("/pulls/1/commits")).toMatchObject([
    { sha: repository.headParent, commit: { message: "Change one\n\nWith a body" } },
    { sha: repository.head, commit: { message: "Change two" } },
  ])
})

test("a comparison names the merge base and how far the two are apart", async () => {
  expect(await get(`/compare/main...${repository.head}`)).toMatchObject({
    status: "ahead",
    ahead_by: 2,
    behind_by: 0,
    total_commits: 2,
    merge_base_commit: { sha: repository.base },
  })
  expect(field(await get(`/compare/${repository.head}...main`), "status")).toBe("behind")
})

test("a file comes as base64, whatever its name", async () => {
  const file = await get(`/contents/a%20dir/%C3%BC%20%23%3F.txt?ref=${repository.base}`)
  expect(Buffer.from(String(field(file, "content")), "base64").toString()).toBe("odd path\n")
  expect(file).toMatchObject({ encoding: "base64", path: "a dir/ü #?.txt" })
})

test("a push, an edit, a draft and an end are seen in what is read afterwards", async () => {
  const own = { repo: "acme/shop", number: 20 }
  await fake.openPullRequest({ ...own, baseSha: repository.base, headRef: "later", headSha: repository.headParent })
  await fake.pushHead(own, repository.wide)
  expect(await get("/pulls/20")).toMatchObject({ head: { sha: repository.wide }, changed_files: 41, commits: 3 })
  await fake.editPullRequest(own, { title: "Another", baseRef: "feature", baseSha: repository.head })
  expect(await get("/pulls/20")).toMatchObject({ title: "Another", base: { ref: "feature" }, changed_files: 35 })
  await fake.setDraft(own, true)
  expect(field(await get("/pulls/20"), "draft")).toBe(true)
  await fake.closePullRequest(own, true)
  expect(await get("/pulls/20")).toMatchObject({ state: "closed", merged: true })
  const open = await get("/pulls")
  expect(Array.isArray(open) && open.map((one) => one.number)).not.toContain(20)
})

test("a commit that is not in the repository opens nothing", async () => {
  const opening = fake.openPullRequest({ repo: "acme/shop", number: 30, baseSha: repository.base, headRef: "x", headSha: "0".repeat(40) })
  await expect(opening).rejects.toMatchObject({ status: 422 })
  expect((await ask(fake.apiUrl, "GET", "/repos/acme/shop/pulls/30", { token })).status).toBe(404)
})

test("a repository without git believes every commit", async () => {
  const [baseSha, headSha, pushed] = ["a".repeat(40), "b".repeat(40), "c".repeat(40)] as const
  await fake.registerRepository({ owner: "acme", name: "paper", gitDirectory: null, installationId: 7 })
  await fake.openPullRequest({ repo: "acme/paper", number: 1, baseSha, headRef: "feature", headSha })
  await fake.pushHead({ repo: "acme/paper", number: 1 }, pushed)
  const paperToken = await installationToken(fake, 7)
  const { body } = await ask(fake.apiUrl, "GET", "/repos/acme/paper/pulls/1", { token: paperToken })
  expect(body).toMatchObject({ head: { sha: pushed }, base: { sha: baseSha }, changed_files: 0 })
})

test("GraphQL tells of no review threads and refuses other queries", async () => {
  const query = (origin: string, text: string) => ask(origin, "POST", "/graphql", { token, body: { query: text } })
  const none = { data: { repository: { pullRequest: { reviewThreads: { nodes: [], pageInfo: { hasNextPage: false } } } } } }
  expect((await query(`${fake.url}/api`, "query { reviewThreads }")).body).toMatchObject(none)
  expect((await query(fake.rootApiUrl, "query { reviewThreads }")).body).toMatchObject(none)
  expect(field((await query(fake.rootApiUrl, "query { viewer }")).body, "errors", 0, "type")).toBe("NOT_IMPLEMENTED")
})
