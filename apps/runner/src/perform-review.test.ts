import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noUsage } from "@galley/contract/usage"
import { makeSlots } from "@galley/sandbox/slot"
import { expect, onTestFinished, test } from "vitest"
import { readRunnerConfig } from "./config.ts"
import { performReview } from "./perform-review.ts"
import type { ServerClient } from "./server-client.ts"
import { exampleCredentials, exampleLease } from "./testing/example-lease.ts"

const [slot] = makeSlots(1)

/** A place without a boundary, whose server grants the example credentials, and a PR-Agent that records its end. */
function place(jobsDirectory: string, server: Partial<ServerClient> = {}) {
  if (slot === undefined) throw new Error("there is no slot")
  const config = readRunnerConfig({
    GALLEY_SERVER_URL: "http://127.0.0.1:9",
    GALLEY_RUNNER_TOKEN: "runner-token-of-these-tests",
    GALLEY_BOUNDARY: "demo",
    GALLEY_JOBS_DIRECTORY: jobsDirectory,
  })
  const closed: string[] = []
  const prewarmed = {
    usable: () => true,
    run: () => Promise.reject(new Error("no engine is asked here")),
    close: async () => void closed.push(existsSync(jobsDirectory) ? readdirSync(jobsDirectory).join() : "no directory"),
  }
  const client = { credentials: async () => exampleCredentials, ...server } as ServerClient
  return { place: { config, server: client, slot, prewarmed }, closed }
}

function jobsDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "galley-jobs-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

const progress = () => ({ phase: "preparing" as const, usage: noUsage })
const never = new AbortController().signal

test("a runner without a boundary refuses a job of another machine before it fetches anything, and leaves nothing", async () => {
  const directory = jobsDirectory()
  const { place: here, closed } = place(directory)
  await expect(performReview(here, exampleLease(), progress(), never)).rejects.toMatchObject({ code: "boundary_unavailable" })
  expect(closed).toEqual([exampleLease().leaseId])
  expect(readdirSync(directory)).toEqual([])
})

test("the waiting PR-Agent is ended even when there is no room for the job", async () => {
  const { place: here, closed } = place("/nonexistent/jobs")
  await expect(performReview(here, exampleLease(), progress(), never)).rejects.toThrow()
  expect(closed).toEqual(["no directory"])
})

test("an abort while it waits for credentials is thrown as it came, and leaves nothing", async () => {
  const directory = jobsDirectory()
  const reason = new Error("enough")
  const { place: here, closed } = place(directory, { credentials: async (_lease, signal) => Promise.reject(signal.reason) })
  await expect(performReview(here, exampleLease(), progress(), AbortSignal.abort(reason))).rejects.toBe(reason)
  expect(closed).toHaveLength(1)
  expect(readdirSync(directory)).toEqual([])
})
