// R-GATE-11

import { GalleyError } from "@galley/contract/errors"
import { describe, expect, test } from "vitest"
import type { Gateway, ShimJob } from "./gateway.ts"
import { callModel, openGateway, TOKEN } from "./testing/gateway-for-tests.ts"
import { completion } from "./testing/scripted-model.ts"
import { BASE, changed, HEAD, MERGE_BASE, shimJob, stateComment } from "./testing/shim-job.ts"

const secret = ["ghp", "_", "a1B2".repeat(9)].join("")
const files = [
  changed("src/a b#ü.ts", { patch: `@@ -1 +1 @@\n-a\n+b\u2028@@ -9 +9 @@ ${secret}\n` }),
  changed("new.ts", { status: "added" }),
  changed("gone.ts", { status: "removed" }),
  changed("to.ts", { status: "renamed", previousPath: "from.ts" }),
  changed("logo.png", { patch: null, omitted: "binary" }),
  changed(".env", { omitted: "credential_like" }),
]

async function openShimGateway(job: ShimJob = shimJob(files)) {
  const { gateway } = await openGateway([completion({ content: "fine" })], { shim: job })
  const call = async (path: string, init: RequestInit = {}) => {
    const address = path.startsWith("http") ? path : gateway.url + path
    const response = await fetch(address, { ...init, headers: { authorization: `token ${TOKEN}`, ...init.headers } })
    return { status: response.status, link: response.headers.get("link"), body: await response.json() }
  }
  return { gateway, call }
}

const contents = (path: string, ref: string) => `/repos/o/r/contents/${encodeURIComponent(path)}?ref=${ref}`
const decode = (answer: { body: { content: string } }) => Buffer.from(answer.body.content, "base64").toString()
const comment = (body: string) => ({ method: "POST", body: JSON.stringify({ body }) })

describe("PR-Agent's reads", () => {
  test("of the pull request: pinned head and base, own addresses, text that forges no line", async () => {
    const { gateway, call } = await openShimGateway()
    expect((await call("/repos/o/r/pulls/7")).body).toEqual({
      number: 7,
      issue_url: `${gateway.url}/repos/o/r/issues/7`,
      html_url: "https://github.com/o/r/pull/7",
      title: "Title\ufffdforged",
      body: "Text\ufffdforged\ufffdline\r\nkept",
      changed_files: 4,
      base: { sha: BASE, ref: "main" },
      head: { sha: HEAD, ref: "change" },
    })
    expect((await call("/repos/o/r/pulls/7/commits")).body).toMatchObject([
      { sha: HEAD, html_url: `https://github.com/o/r/commit/${HEAD}`, commit: { message: "Change\ufffdit" } },
    ])
    expect((await call(`/repos/o/r/compare/${BASE}...${HEAD}`)).body).toEqual({ merge_base_commit: { sha: MERGE_BASE } })
    expect((await call("/repos/o/r")).body).toMatchObject({ full_name: "o/r" })
    expect((await call("/repos/o/r/languages")).body).toEqual({})
    expect((await call("/user")).body).toEqual({ login: "galley[bot]" })
    expect(gateway.shimFailures()).toEqual([])
    expect(gateway.verdict()).toBeNull()
  })

  test("of the files: those with hunks and without omission, clean and unable to forge a hunk", async () => {
    const { call } = await openShimGateway()
    const { body } = await call("/repos/o/r/pulls/7/files")
    expect(body.map((file: { filename: string }) => file.filename)).toEqual(["src/a b#ü.ts", "new.ts", "gone.ts", "to.ts"])
    expect(body[0]).toEqual({
      filename: "src/a b#ü.ts",
      status: "modified",
      patch: "@@ -1 +1 @@\n-a\n+b\ufffd@@ -9 +9 @@ [redacted:github-token]",
    })
    expect(body[3]).toMatchObject({ status: "renamed", previous_filename: "from.ts" })
  })

  test("come in pages that link to the gateway itself", async () => {
    const many = Array.from({ length: 230 }, (_, i) => changed(`f${i}.ts`))
    const { gateway, call } = await openShimGateway(shimJob(many))
    const names: string[] = []
    let next: string | undefined = "/repos/o/r/pulls/7/files?per_page=30"
    while (next !== undefined) {
      const page: Awaited<ReturnType<typeof call>> = await call(next)
      names.push(...page.body.map((file: { filename: string }) => file.filename))
      next = /^<([^>]+)>; rel="next"$/.exec(page.link ?? "")?.[1]
      if (next !== undefined) expect(next.startsWith(gateway.url)).toBe(true)
    }
    expect(names).toEqual(many.map((file) => file.path))
  })

  test("of contents: the side where the file is, at the pinned commits", async () => {
    const { gateway, call } = await openShimGateway(shimJob(files, { "new.ts": `a\fb ${secret}` }))
    expect(decode(await call(contents("src/a b#ü.ts", HEAD)))).toBe("src/a b#ü.ts at head")
    expect(decode(await call(contents("src/a b#ü.ts", MERGE_BASE)))).toBe("src/a b#ü.ts at mergeBase")
    expect(decode(await call(contents("from.ts", MERGE_BASE)))).toBe("from.ts at mergeBase")
    expect(decode(await call(contents("to.ts", HEAD)))).toBe("to.ts at head")
    expect(decode(await call(contents("gone.ts", MERGE_BASE)))).toBe("gone.ts at mergeBase")
    expect(decode(await call(contents("new.ts", HEAD)))).toBe("a\ufffdb [redacted:github-token]")
    expect(gateway.verdict()).toBeNull()
  })

  test.each([
    ["a file without hunks", contents("logo.png", HEAD)],
    ["an omitted file", contents(".env", HEAD)],
    ["an unchanged file", contents("other.ts", HEAD)],
    ["an added file before the change", contents("new.ts", MERGE_BASE)],
    ["a removed file after the change", contents("gone.ts", HEAD)],
    ["the new name before the rename", contents("to.ts", MERGE_BASE)],
    ["another commit", contents("new.ts", BASE)],
  ])("of contents: %s is not there, which is no failure", async (_what, path) => {
    const { gateway, call } = await openShimGateway()
    expect((await call(path)).status).toBe(404)
    expect(gateway.shimFailures()).toEqual([])
    expect(gateway.verdict()).toBeNull()
  })

  test("of comments: the one state comment, written by the bot", async () => {
    const { gateway, call } = await openShimGateway()
    const { body } = await call("/repos/o/r/issues/7/comments")
    const url = `${gateway.url}/repos/o/r/issues/comments/1`
    expect(body).toMatchObject([{ user: { login: "galley[bot]" }, url, body: stateComment }])
  })
})

describe("PR-Agent's writes", () => {
  test("are captured and answered as done", async () => {
    const { gateway, call } = await openShimGateway()
    const edited = await call("/repos/o/r/issues/comments/1", { method: "PATCH", body: JSON.stringify({ body: "edited" }) })
    expect([edited.status, edited.body.body]).toEqual([200, "edited"])
    const posted = await call("/repos/o/r/issues/7/comments", comment("posted"))
    expect([posted.status, posted.body.user.login]).toEqual([201, "galley[bot]"])
    expect(gateway.shimWrites()).toEqual([
      { method: "PATCH", path: "/repos/o/r/issues/comments/1", body: "edited" },
      { method: "POST", path: "/repos/o/r/issues/7/comments", body: "posted" },
    ])
    expect(gateway.verdict()).toBeNull()
  })
})

describe("anything else PR-Agent asks", () => {
  test.each<readonly [string, RequestInit]>([
    ["/repos/o/r/pulls/8", {}],
    ["/repos/o/other", {}],
    ["/repos/o/r/contents/..%2f..%2fetc%2fpasswd?ref=x", {}],
    ["/repos/o/r/contents/%zz", {}],
    ["/repos/o/r/contents/a//b", {}],
    ["/repos/o/r/issues/comments/2", { method: "PATCH", body: '{"body":"x"}' }],
    ["/repos/o/r/issues/comments/1", { method: "DELETE" }],
    ["/repos/o/r/issues/7/comments", { method: "POST", body: '{"text":"x"}' }],
    ["/repos/o/r/issues/7/labels", comment("x")],
    ["/graphql", { method: "POST", body: '{"query":"mutation { deleteRef }"}' }],
    ["/installation/repositories", {}],
  ])("%s is refused, remembered and ends the job", async (path, init) => {
    const { gateway, call } = await openShimGateway()
    expect((await call(path, init)).status).toBe(403)
    expect(gateway.shimFailures()).toEqual([expect.stringMatching(/ -> 403$/)])
    expect(gateway.verdict()?.code).toBe("github_shim_refused")
    expect((await callModel(gateway)).status).toBe(422)
    expect(gateway.shimWrites()).toEqual([])
  })

  test("a body without end is refused", async () => {
    const { gateway, call } = await openShimGateway()
    expect((await call("/repos/o/r/issues/7/comments", comment("x".repeat(1_100_000)))).status).toBe(500)
    expect(gateway.verdict()?.code).toBe("github_shim_refused")
  })

  test("a file that must be there and cannot be read ends the job with its own code", async () => {
    const job = shimJob(files)
    const broken = async () => {
      throw new GalleyError("changed_file_unavailable", "object is gone")
    }
    const { gateway, call } = await openShimGateway({ ...job, checkout: { ...job.checkout, readText: broken } })
    expect((await call(contents("new.ts", HEAD))).status).toBe(500)
    expect(gateway.verdict()?.code).toBe("changed_file_unavailable")
    expect(gateway.shimFailures()).toHaveLength(1)
  })

  test("without the token is refused at the door and no verdict", async () => {
    const { gateway, call } = await openShimGateway()
    expect((await call("/user", { headers: { authorization: "token other" } })).status).toBe(401)
    expect(gateway.refusals()).toHaveLength(1)
    expect(gateway.shimFailures()).toEqual([])
    expect(gateway.verdict()).toBeNull()
  })

  test("is not served to a Dynamic Review", async () => {
    const { gateway }: { gateway: Gateway } = await openGateway([completion({})])
    const answer = await fetch(`${gateway.url}/user`, { headers: { authorization: `token ${TOKEN}` } })
    expect(answer.status).toBe(404)
  })
})
