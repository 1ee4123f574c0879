import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import { installationToken } from "./testing/test-client.ts"
import { createTestRepository, git, type TestRepository } from "./testing/test-repository.ts"

let repository: TestRepository
let fake: FakeGitHub
let token: string
let clone: string

beforeAll(async () => {
  repository = await createTestRepository()
  fake = await startFakeGitHub()
  const gitDirectory = repository.directory
  await fake.registerRepository({ owner: "acme", name: "shop", gitDirectory, installationId: 7 })
  await fake.registerRepository({ owner: "other", name: "secret", gitDirectory, installationId: 8 })
  await fake.registerRepository({ owner: "other", name: "open", gitDirectory, private: false, installationId: 8 })
  await fake.openPullRequest({ repo: "acme/shop", number: 5, baseSha: repository.base, headRef: "feature", headSha: repository.head })
  token = await installationToken(fake, 7)
})

afterAll(async () => {
  await Promise.all([fake?.close(), repository?.remove()])
})

beforeEach(async () => {
  clone = await mkdtemp(join(tmpdir(), "fake-github-clone-"))
  await git(clone, "init", "--quiet", "--bare")
  return () => rm(clone, { recursive: true, force: true })
})

/** Runs git in the clone with a token in its headers, as the product does. */
function withToken(credential: string | null, ...args: string[]): Promise<string> {
  const basic = Buffer.from(`x-access-token:${credential}`).toString("base64")
  return git(clone, ...(credential ? ["-c", `http.extraHeader=Authorization: Basic ${basic}`] : []), ...args)
}

const lastHttpStatus = () => fake.requests().at(-1)?.status

test("a commit that no ref names is fetched by its exact id, without blobs when asked", async () => {
  await withToken(token, "fetch", "--quiet", "--depth=1", "--filter=blob:none", `${fake.url}/acme/shop.git`, repository.headParent)
  expect(await git(clone, "rev-parse", "FETCH_HEAD")).toBe(repository.headParent)
  expect(await git(clone, "rev-list", "--objects", "--missing=print", "--all", repository.headParent)).toContain("?")
})

test("the head of a pull request is a ref of the base repository and moves with a push", async () => {
  const head = async () => (await withToken(token, "ls-remote", `${fake.url}/acme/shop`, "refs/pull/5/head")).split("\t")[0]
  expect(await head()).toBe(repository.head)
  await fake.pushHead({ repo: "acme/shop", number: 5 }, repository.wide)
  expect(await head()).toBe(repository.wide)
})

test("a private repository asks for credentials", async () => {
  await expect(withToken(null, "fetch", `${fake.url}/acme/shop.git`, repository.head)).rejects.toThrow()
  expect(lastHttpStatus()).toBe(401)
})

test("a public repository needs no credentials", async () => {
  await withToken(null, "fetch", "--quiet", `${fake.url}/other/open.git`, "main")
  expect(await git(clone, "rev-parse", "FETCH_HEAD")).toBe(repository.base)
})

test("a token does not open another installation's repository", async () => {
  await expect(withToken(token, "fetch", `${fake.url}/other/secret.git`, repository.head)).rejects.toThrow()
  expect(lastHttpStatus()).toBe(404)
})

test("a token without the contents permission opens nothing", async () => {
  const narrow = await installationToken(fake, 7, { permissions: { pull_requests: "write" } })
  await expect(withToken(narrow, "fetch", `${fake.url}/acme/shop.git`, repository.head)).rejects.toThrow()
  expect(lastHttpStatus()).toBe(403)
})

test("an ended token opens nothing", async () => {
  const ended = await installationToken(fake, 8)
  fake.state.installationTokens.delete(ended)
  await expect(withToken(ended, "fetch", `${fake.url}/other/secret.git`, repository.head)).rejects.toThrow()
  expect(lastHttpStatus()).toBe(401)
})

test("nothing can be pushed, not even by a direct request", async () => {
  await withToken(token, "fetch", "--quiet", `${fake.url}/acme/shop.git`, repository.head)
  await expect(withToken(token, "push", `${fake.url}/acme/shop.git`, "FETCH_HEAD:refs/heads/mine")).rejects.toThrow()
  expect(lastHttpStatus()).toBe(403)
  const direct = await fetch(`${fake.url}/acme/shop.git/git-receive-pack`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  })
  expect(direct.status).toBe(403)
})

test("the repository on disk keeps its refs and configuration", async () => {
  const refs = await repository.git("for-each-ref", "--format=%(refname)")
  expect(refs.split("\n").sort()).toEqual(["alone", "feature", "main", "wide"].map((branch) => `refs/heads/${branch}`))
  expect(await readFile(join(repository.directory, ".git", "config"), "utf8")).not.toContain("allowAnySHA1InWant")
})

test("objects that only a fork has are served from the base repository", async () => {
  const fork = await createTestRepository()
  try {
    await fork.git("checkout", "--quiet", "-b", "from-fork", repository.base).catch(() => fork.git("checkout", "--quiet", "main"))
    await fork.git("commit", "--quiet", "--allow-empty", "--message", "Only in the fork")
    const headSha = await fork.git("rev-parse", "HEAD")
    const { number } = await fake.openPullRequest({
      repo: "acme/shop",
      baseSha: repository.base,
      headRef: "from-fork",
      headSha,
      fork: { owner: "forker", gitDirectory: fork.directory },
    })
    await withToken(token, "fetch", "--quiet", `${fake.url}/acme/shop.git`, `refs/pull/${number}/head`)
    expect(await git(clone, "rev-parse", "FETCH_HEAD")).toBe(headSha)
  } finally {
    await fork.remove()
  }
})

test("closing the fake removes its mirrors", async () => {
  const other = await startFakeGitHub()
  const { mirrorDirectory } = await other.registerRepository({ owner: "acme", name: "shop", gitDirectory: repository.directory })
  expect(existsSync(join(mirrorDirectory ?? "", "HEAD"))).toBe(true)
  await other.close()
  expect(existsSync(mirrorDirectory ?? "")).toBe(false)
})
