import { Writable } from "node:stream"
import { Credentials } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { pino } from "pino"
import { expect, test } from "vitest"
import { BOT, PULL, resultOf, startReviewServer, until } from "./review-fixture.ts"
import { RUNNER_TOKEN, WEBHOOK_SECRET } from "./server-fixture.ts"

// R-DATA-4
test("logs what happens and never a token, a key, a secret or a body, also when everything fails", async () => {
  let written = ""
  const sink = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  const server = await startReviewServer({ MODEL_API_KEY: "the-model-key" }, { log: pino({ level: "debug" }, sink) })
  const { github } = server
  await server.openPullRequest()
  github.addFault({ method: "GET", path: "/repos/**", effect: { kind: "destroy" } })
  await server.poll({ waitMs: 200 })
  await server.context.store.sql`update review_jobs set run_after = now()`
  const lease = await server.lease()
  const credentials = Credentials.parse(await (await server.on(lease, "credentials")).json())
  github.addFault({ method: "POST", path: "/app/installations/*/access_tokens", effect: { kind: "status", status: 500 } })
  expect((await server.on(lease, "credentials")).status).toBe(503)
  await server.on(lease, "heartbeat", { phase: "reviewing", progress: "a line for people", usage: noUsage })
  await server.on(lease, "result", { ...resultOf(lease), surprise: "body-in-a-refusal" })
  github.addFault({ method: "POST", path: "/repos/*/*/issues/*/comments", effect: { kind: "status", status: 502 } })
  await server.on(lease, "result", resultOf(lease))
  await until(server.job, ({ state }) => state === "succeeded")
  await server.deliver("pull_request", { secret: "body-of-a-delivery" })
  await server.app.request("/webhooks/github", { method: "POST", body: "{}", headers: { "x-hub-signature-256": "sha256=forged" } })
  await server.command(BOT, "/review body-of-a-comment")

  for (const sentence of ["job leased", "the lease could not be completed", "comment published", "delivery taken", "delivery refused"]) {
    expect(written).toContain(sentence)
  }
  const secrets = [
    RUNNER_TOKEN,
    WEBHOOK_SECRET,
    "the-model-key",
    lease.leaseToken,
    credentials.githubToken,
    ...github.state.installationTokens.keys(),
    github.privateKeyPem?.split("\n")[1] ?? "",
    String(server.context.config.masterKeys[0]?.toString("base64")),
    "eyJ",
  ]
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(2)
    expect(written).not.toContain(secret)
  }
  for (const body of ["body-in-a-refusal", "body-of-a-delivery", "body-of-a-comment", "pr-agent-review-state"])
    expect(written).not.toContain(body)
  expect(github.comments(PULL).length).toBeGreaterThan(0)
})
