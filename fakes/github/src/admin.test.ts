import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { ask, field } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"

const Ready = z.object({ url: z.url(), apiUrl: z.url(), rootApiUrl: z.url(), appId: z.int(), slug: z.string() })
const main = new URL("main.ts", import.meta.url).pathname
let repository: TestRepository
let directory: string

beforeAll(async () => {
  repository = await createTestRepository()
  directory = await mkdtemp(join(tmpdir(), "fake-github-main-"))
})

afterAll(async () => {
  await Promise.all([repository?.remove(), rm(directory, { recursive: true, force: true })])
})

/** Runs the program until the body ends, then interrupts it; returns its exit code. */
async function running(args: readonly string[], body: (ready: z.infer<typeof Ready>) => Promise<void>): Promise<number | null> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  const exited = once(child, "exit")
  try {
    const [line] = await once(createInterface(child.stdout), "line")
    await body(Ready.parse(JSON.parse(line)))
  } finally {
    child.kill("SIGINT")
  }
  const [code] = await exited
  return code
}

test("the program works alone: it makes a key, serves a repository, is driven from outside and stops when interrupted", async () => {
  const keyFile = join(directory, "app.pem")
  const code = await running(
    ["--key-file", keyFile, "--repository", `acme/shop=${repository.directory}`, "--slug", "reviewer"],
    async ({ url, slug }) => {
      const admin = (method: string, path: string, body?: unknown) => ask(`${url}/_fake`, method, path, body === undefined ? {} : { body })
      expect(slug).toBe("reviewer")
      const pull = { repo: "acme/shop", number: 1 }
      const opened = await admin("POST", "/pulls", {
        ...pull,
        baseSha: repository.base,
        headRef: "feature",
        headSha: repository.headParent,
      })
      expect(opened).toMatchObject({ status: 201, body: { number: 1, commits: 1 } })
      expect((await admin("POST", "/pulls/push", { ...pull, headSha: repository.head })).body).toMatchObject({ commits: 2 })
      const comment = await admin("POST", "/comments", { ...pull, author: "ada", body: "/review" })
      await admin("POST", "/comments/edit", { id: field(comment.body, "id"), body: "edited", editor: "ada" })
      expect((await admin("GET", "/comments?repo=acme/shop&number=1")).body).toMatchObject([{ body: "edited", user: { login: "ada" } }])
      expect((await admin("POST", "/pulls/draft", { ...pull, draft: true })).body).toMatchObject({ draft: true })
      expect((await admin("POST", "/pulls/close", pull)).body).toMatchObject({ state: "closed" })

      await admin("POST", "/faults", { path: "/meta", effect: { kind: "status", status: 503 } })
      expect((await ask(`${url}/api/v3`, "GET", "/meta")).status).toBe(503)
      expect((await ask(`${url}/api/v3`, "GET", "/meta")).status).toBe(200)
      expect((await admin("GET", "/requests")).body).toMatchObject([
        { path: "/api/v3/meta", status: 503, fault: "status", caller: { kind: "none" } },
        { path: "/api/v3/meta", status: 200, fault: null },
      ])
      expect((await admin("POST", "/pulls", { repo: "acme/shop" })).status).toBe(422)
      expect((await admin("POST", "/pulls/close", { repo: "acme/shop", number: 9 })).status).toBe(404)
      expect((await admin("GET", "/state")).body).toMatchObject({ repositories: [{ fullName: "acme/shop", pulls: [1] }] })
    },
  )
  expect(code).toBe(0)
  expect(await readFile(keyFile, "utf8")).toContain("PRIVATE KEY")
  expect(await readFile(`${keyFile}.pub`, "utf8")).toContain("PUBLIC KEY")
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600)
})
