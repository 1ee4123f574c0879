import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { parseComment } from "@galley/findings/comment-state"
import { expect, onTestFinished, test } from "vitest"
import type { Server } from "../../conformance/protocol-client.ts"
import { type Between, startSubject } from "./conformance-fixture.ts"
import { PULL, stateAt, until } from "./review-fixture.ts"

const program = new URL("../../conformance/reference-runner.ts", import.meta.url).pathname

/** The reference runner as a process; killed with the test. */
function startRunner({ url, token }: Server, workMs = 0) {
  const env = { PATH: process.env.PATH ?? "", SERVER: url, TOKEN: token, WORK_MS: String(workMs) }
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const steps: string[] = []
  createInterface({ input: child.stdout }).on("line", (line) => steps.push((JSON.parse(line) as { step: string }).step))
  return {
    steps,
    reached: (step: string) =>
      until(
        () => steps,
        () => steps.includes(step),
      ),
    async stop(): Promise<unknown> {
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      return (await ended)[0]
    },
  }
}

test("the reference runner takes one job after the other", async () => {
  const runner = startRunner(await startSubject(3))
  await until(
    () => runner.steps.filter((step) => step === "handed_over"),
    (reviews) => reviews.length === 3,
  )
})

test("the reference runner keeps every finding of the prior state as it is", async () => {
  const subject = await startSubject(1)
  const { review } = subject
  await review.review()
  await review.command()
  const runner = startRunner(subject)
  await runner.reached("handed_over")
  await until(review.job, ({ state }) => state === "succeeded")
  const [comment] = review.botComments()
  const { findings } = stateAt(review.change.headSha)
  expect(parseComment(comment?.body ?? "")?.state.findings).toEqual(findings)
  expect(await runner.stop()).toBe(0)
})

// R-PROTO-9
test("the reference runner repeats what it asked when the answer was lost, and nothing is done twice", async () => {
  const lost = new Set<string>()
  const loseFirstAnswers: Between = async (request, forward) => {
    const verb = new URL(request.url).pathname.split("/").at(-1) ?? ""
    const answer = await forward(request)
    if (lost.has(verb)) return answer
    lost.add(verb)
    return new Response("bad gateway", { status: 502 })
  }
  const subject = await startSubject(1, loseFirstAnswers)
  const runner = startRunner(subject)
  await runner.reached("handed_over")
  expect([...lost]).toEqual(expect.arrayContaining(["leases", "credentials", "result"]))
  expect(await subject.review.context.store.sql`select 1 from review_runs`).toHaveLength(1)
  expect(runner.steps.filter((step) => step === "leased")).toHaveLength(1)
})

test("the reference runner keeps a lease for as long as it works", async () => {
  const subject = await startSubject(1)
  const runner = startRunner(subject, 8_000)
  await runner.reached("handed_over")
  expect(await subject.review.job()).toMatchObject({ failures: 0 })
})

test("the reference runner gives its job back when it is asked to stop", async () => {
  const subject = await startSubject(1)
  const runner = startRunner(subject, 60_000)
  await runner.reached("leased")
  expect(await runner.stop()).toBe(0)
  expect(runner.steps).toEqual(["leased", "released"])
  expect(await subject.review.job()).toMatchObject({ state: "waiting", failures: 0 })
})

test("the reference runner stops working on a job that nobody wants any more", async () => {
  const subject = await startSubject(1)
  const runner = startRunner(subject, 60_000)
  await runner.reached("leased")
  await subject.review.github.closePullRequest(PULL)
  await runner.reached("released")
  expect(await subject.review.job()).toMatchObject({ state: "cancelled" })
})

test("the reference runner drops its work before a lease ends that it cannot renew", async () => {
  const heartbeats: Between = async (request, forward) =>
    request.url.endsWith("/heartbeat") ? new Response("bad gateway", { status: 502 }) : forward(request)
  const subject = await startSubject(1, heartbeats)
  const runner = startRunner(subject, 60_000)
  await runner.reached("dropped")
  const lease = await subject.review.context.store.sql`select lease_expires_at > clock_timestamp() as holds from review_jobs`
  expect(lease).toMatchObject([{ holds: true }])
})
