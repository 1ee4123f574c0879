import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { directoryBytes } from "./directory-bytes.ts"
import { prepareCheckout } from "./prepare-checkout.ts"
import type { TestRepository } from "./testing/repository.ts"
import { filesBelow, openWorkbench, type Workbench } from "./testing/workbench.ts"

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const TOKEN = "ghs_secretsecretsecretsecret"
const ENCODED = Buffer.from(`x-access-token:${TOKEN}`).toString("base64")

let bench: Workbench
let repository: TestRepository
let base = ""
let head = ""
beforeEach(async () => {
  bench = await openWorkbench()
  repository = bench.repository("sample.git")
  base = repository.commit({ a: "1\n" })
  head = repository.commit({ a: "2\n" }, [base], { minute: 1 })
})
afterEach(() => bench.close())

describe("the credential", () => {
  // R-CHECKOUT-2
  test("reaches the server and stands neither in arguments nor on disk", async () => {
    const request = bench.request("sample.git", base, head, { token: TOKEN })
    bench.server.intercept(() => bench.server.seen.length > 1) // let the fetch begin, then never answer
    const stop = new AbortController()
    const running = prepareCheckout(request, stop.signal)
    const outcome = expect(running).rejects.toBe("enough")
    await vi.waitFor(() => expect(bench.server.seen.length).toBe(2), { timeout: 10_000 })

    const group = processGroup(request.jobDirectory)
    const commandLines = group.map((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1"))
    expect(group.length).toBeGreaterThan(1)
    expect(commandLines.filter((line) => line.includes(TOKEN) || line.includes(ENCODED))).toEqual([])
    expect(bench.server.seen.every((seen) => seen.authorization === `Basic ${ENCODED}`)).toBe(true)
    expect(leaks(request.jobDirectory)).toEqual([])
    stop.abort("enough")
    await outcome
  })

  // R-CHECKOUT-2, R-CHECKOUT-3
  test("is nowhere in a finished job directory, and no remote is", async () => {
    const request = bench.request("sample.git", base, head, { token: TOKEN })
    await prepareCheckout(request, AbortSignal.timeout(30_000))
    expect(leaks(request.jobDirectory)).toEqual([])
    const configurations = ["history", "objects"].map((name) => readFileSync(join(request.jobDirectory, "git", name, "config"), "utf8"))
    expect(configurations.filter((text) => /remote|promisor|http/.test(text))).toEqual([])
    expect(statSync(join(request.jobDirectory, "git")).mode & 0o777).toBe(0o700)
  })

  test("is not accepted as part of the address", async () => {
    const request = bench.request("sample.git", base, head, { gitUrl: `http://x:${TOKEN}@127.0.0.1:9/a.git` })
    await expect(prepareCheckout(request, AbortSignal.timeout(30_000))).rejects.toMatchObject({ code: "request_invalid" })
  })
})

describe("git children", () => {
  // R-CHECKOUT-13
  test("hold no capability, inherit nothing and have limits", async () => {
    const request = bench.request("sample.git", base, head)
    bench.server.intercept(() => true)
    const stop = new AbortController()
    const outcome = expect(prepareCheckout(request, stop.signal)).rejects.toBe("enough")
    await vi.waitFor(() => expect(bench.server.seen.length).toBe(1), { timeout: 10_000 })
    for (const pid of processGroup(request.jobDirectory)) {
      const status = readFileSync(`/proc/${pid}/status`, "utf8")
      expect(status).toMatch(/^CapEff:\t0+$/m)
      const bounds = readFileSync(`/proc/${pid}/limits`, "utf8")
      expect(bounds).toMatch(new RegExp(`^Max file size +${request.limits.maxCheckoutBytes} `, "m"))
      expect(bounds).not.toMatch(/^Max (?:address space|cpu time) +unlimited/m)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
      const names = readFileSync(`/proc/${pid}/environ`, "latin1")
        .split("\0")
        .map((entry) => entry.split("=")[0] ?? "")
      expect(names.filter((name) => !/^(?:|GIT_.*|PATH|HOME|XDG_CONFIG_HOME|LC_ALL)$/.test(name))).toEqual([])
    }
    stop.abort("enough")
    await outcome
  })

  // R-CHECKOUT-13
  test("all end when the job is aborted, and nothing is left on disk", async () => {
    const request = bench.request("sample.git", base, head)
    bench.server.intercept(() => true)
    const stop = new AbortController()
    const outcome = expect(prepareCheckout(request, stop.signal)).rejects.toBe("stopped")
    await vi.waitFor(() => expect(processGroup(request.jobDirectory).length).toBeGreaterThan(1), { timeout: 10_000 })
    const group = processGroup(request.jobDirectory)
    stop.abort("stopped")
    await outcome
    await vi.waitFor(() => expect(group.filter(isRunning)).toEqual([]), { timeout: 5_000 })
    expect(readdirSync(request.jobDirectory)).toEqual([])
  }, 10_000) // git gives a silent connection up after 20 s by itself

  test("never start for a job that is already aborted", async () => {
    await expect(prepareCheckout(bench.request("sample.git", base, head), AbortSignal.abort("early"))).rejects.toBe("early")
    expect(bench.server.seen).toEqual([])
  })
})

describe("answers of the server", () => {
  test.each([
    [302, "checkout_fetch_failed"],
    [401, "github_unauthorized"],
    [403, "github_unauthorized"],
    [404, "github_unauthorized"],
    [503, "checkout_fetch_failed"],
  ] as const)("turns the status %i into a stable code and follows nowhere", async (status, code) => {
    bench.server.intercept((_, response) => {
      response.writeHead(status, { location: bench.server.url("elsewhere.git/info/refs") }).end()
      return true
    })
    await expect(bench.prepare("sample.git", base, head, { token: TOKEN })).rejects.toMatchObject({ code })
    expect(bench.server.seen.filter((seen) => seen.url.includes("elsewhere"))).toEqual([])
  })

  // R-CHECKOUT-1
  test("fails for a commit the server does not have", async () => {
    await expect(bench.prepare("sample.git", base, "1".repeat(40))).rejects.toMatchObject({ code: "checkout_ref_unavailable" })
    await expect(bench.prepare("sample.git", "1".repeat(40), head)).rejects.toMatchObject({ code: "checkout_ref_unavailable" })
  })

  // B14
  test("fails for an id that is no commit", async () => {
    const tree = repository.git(["rev-parse", `${head}^{tree}`])
    await expect(bench.prepare("sample.git", base, tree)).rejects.toMatchObject({ code: "checkout_ref_unavailable" })
  })

  // F23
  test("fails in a way worth a retry when the connection breaks in mid-answer", async () => {
    bench.server.intercept((request, response) => {
      if (request.method !== "POST") return false
      response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" })
      response.write("0011shallow-info\n", () => response.destroy())
      return true
    })
    await expect(bench.prepare("sample.git", base, head)).rejects.toMatchObject({ code: "checkout_fetch_failed" })
  })

  test("fails in a way worth a retry when nobody listens", async () => {
    await expect(bench.prepare("sample.git", base, head, { gitUrl: "http://127.0.0.1:9/a.git" })).rejects.toMatchObject({
      code: "checkout_fetch_failed",
    })
  })

  // F24, R-CHECKOUT-1
  test("still reviews a queued head that was pushed away", async () => {
    repository.publish(base, repository.commit({ a: "3\n" }, [base], { minute: 2 }))
    expect((await bench.prepare("sample.git", base, head)).headSha).toBe(head)
  })

  test("stays safe with a server that ignores filters", async () => {
    repository.git(["config", "uploadpack.allowFilter", "false"])
    const big = repository.commit({ a: "2\n", "big.txt": `${"x".repeat(63)}\n`.repeat(10_000) }, [base], { minute: 1 })
    const checkout = await bench.prepare("sample.git", base, big)
    expect(checkout.omitted.omissions).toEqual([{ path: "big.txt", reason: "file_too_large", changed: true }])
  })
})

test("asks the server a bounded number of times, whatever the number of files", async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, `${index}\n`]))
  const wide = repository.commit(many, [base], { minute: 1 })
  await bench.prepare("sample.git", base, wide, { previousHeadSha: head })
  expect(bench.server.seen.filter((seen) => seen.method === "POST").length).toBeLessThanOrEqual(4)
})

// F25, R-CHECKOUT-8
test("stops a download over the disk quota and leaves nothing", async () => {
  const blobs = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}.txt`, randomBytes(150_000).toString("base64")]))
  const large = repository.commit(blobs, [base], { minute: 1 })
  const request = bench.request("sample.git", base, large, { limits: { maxCheckoutBytes: 1_000_000 } })
  await expect(prepareCheckout(request, AbortSignal.timeout(30_000))).rejects.toMatchObject({ code: "checkout_quota_exceeded" })
  expect(readdirSync(request.jobDirectory)).toEqual([])
})

// F25
test("counts the export into the disk quota", async () => {
  const large = repository.commit({ "a.txt": randomBytes(300_000).toString("base64").replace(/.{60}/g, "$&\n") }, [base], { minute: 1 })
  const { treePath } = await bench.prepare("sample.git", base, large)
  const maxCheckoutBytes = directoryBytes(join(treePath, "../git")) + 100_000
  await expect(bench.prepare("sample.git", base, large, { limits: { maxCheckoutBytes } })).rejects.toMatchObject({
    code: "checkout_quota_exceeded",
  })
})

test("omits an object that unpacks to far more than the disk quota", async () => {
  repository.git(["config", "uploadpack.allowFilter", "false"])
  const bomb = repository.commit({ "zeros.txt": Buffer.alloc(8_000_000) }, [base], { minute: 1 })
  const checkout = await bench.prepare("sample.git", base, bomb, { limits: { maxCheckoutBytes: 1_000_000 } })
  expect(checkout.omitted.omissions).toEqual([{ path: "zeros.txt", reason: "file_too_large", changed: true }])
})

/** Ids of the processes in the groups that git children for this job directory lead. */
function processGroup(jobDirectory: string): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger)
  const leads = (pid: number): boolean => readProcess(pid, "cmdline").includes(jobDirectory)
  const leaders = pids.filter(leads).map(groupOf)
  return pids.filter((pid) => leaders.includes(groupOf(pid)))
}

function groupOf(pid: number): string | undefined {
  return /\) \S \d+ (\d+)/.exec(readProcess(pid, "stat"))?.[1]
}

/** Empty for a process that is gone by now. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1")
  } catch {
    return ""
  }
}

function isRunning(pid: number): boolean {
  return /^State:\t[^ZX]/m.test(readProcess(pid, "status"))
}

function leaks(directory: string): string[] {
  return [...filesBelow(directory)].filter(([, text]) => text.includes(TOKEN) || text.includes(ENCODED)).map(([path]) => path)
}
