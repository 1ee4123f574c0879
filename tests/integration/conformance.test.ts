import { execFile } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { allChecks, JOBS_NEEDED } from "../../conformance/checks/all-checks.ts"
import { runChecks } from "../../conformance/run-checks.ts"
import { startSubject } from "./conformance-fixture.ts"
import { wrongServers } from "./wrong-servers.ts"

const WHOLE_KIT_MS = 180_000
const main = new URL("../../conformance/main.ts", import.meta.url).pathname

/** The kit as an operator calls it. */
async function runKit(environment: Record<string, string>): Promise<{ lines: string[]; status: number }> {
  const env = { PATH: process.env.PATH ?? "", ...environment }
  const { stdout, status } = await promisify(execFile)(process.execPath, [main], { env })
    .then(({ stdout }) => ({ stdout, status: 0 }))
    .catch((error: { stdout: string; code: number }) => ({ stdout: error.stdout, status: error.code }))
  return { lines: stdout.trimEnd().split("\n"), status }
}

// R-PROTO-8
test(
  "the server keeps every rule of the runner protocol that the kit knows",
  async () => {
    const { url, token } = await startSubject(JOBS_NEEDED)
    const { lines, status } = await runKit({ SERVER: url, TOKEN: token })
    expect(lines.filter((line) => !line.startsWith("ok "))).toEqual([
      `${allChecks.length} checks of ${url}; they use up to ${JOBS_NEEDED} waiting jobs`,
      `${allChecks.length} passed, 0 failed`,
    ])
    expect(status).toBe(0)
  },
  WHOLE_KIT_MS,
)

test("the kit counts a check without a job to look at as skipped, with the reason, and never as passed", async () => {
  const { url, token } = await startSubject(0)
  const { lines, status } = await runKit({ SERVER: url, TOKEN: token, ONLY: "heartbeat: " })
  const count = allChecks.filter(({ name }) => name.includes("heartbeat: ")).length
  expect(lines.filter((line) => line === "    needs a waiting job, and there is none")).toHaveLength(count)
  expect(lines.at(-1)).toBe(`0 passed, 0 failed, ${count} skipped`)
  expect(status).toBe(0)
})

test("the kit ends with status 1 when a check failed", async () => {
  const { url, token } = await startSubject(0, async (request, forward) =>
    request.headers.get("authorization") === null ? new Response(null, { status: 204 }) : forward(request),
  )
  const { lines, status } = await runKit({ SERVER: url, TOKEN: token, ONLY: "refuses no token" })
  expect(lines.at(-1)).toBe("0 passed, 1 failed")
  expect(status).toBe(1)
})

test("the kit says once, and not once a check, that there is no server or that it does not know the token", async () => {
  const { url } = await startSubject(0)
  const silent = createServer(() => undefined).listen(0, "127.0.0.1")
  onTestFinished(() => void silent.close())
  await once(silent, "listening")
  const { port } = silent.address() as AddressInfo
  for (const [server, code] of [
    ["http://127.0.0.1:9", "server_unreachable"],
    [`http://127.0.0.1:${port}`, "server_unreachable"],
    [url, "runner_unauthorized"],
  ] as const) {
    const { lines, status } = await runKit({ SERVER: server, TOKEN: "any" })
    expect(lines).toEqual([`FAILED ${server} cannot be checked`, expect.stringContaining(code), "0 passed, 1 failed"])
    expect(status).toBe(1)
  }
})

test.each([
  ["a server", { TOKEN: "any" }],
  ["a token", { SERVER: "http://127.0.0.1:9" }],
  ["a check of that name", { SERVER: "http://127.0.0.1:9", TOKEN: "any", ONLY: "dreams" }],
])("the kit ends with status 2 without %s", async (_, environment) => {
  expect(await runKit(environment)).toMatchObject({ status: 2 })
})

// R-PROTO-8
test.each(wrongServers)("the kit notices a server that %s", async (_, notices, jobs, make) => {
  const checks = allChecks.filter(({ name }) => name.startsWith(notices))
  const subject = await startSubject(jobs, make())
  const outcomes = await runChecks(subject, checks, () => undefined)
  expect(outcomes).toMatchObject([{ state: "failed" }])
  expect(outcomes[0]?.reason).not.toContain("fetch failed")
})
