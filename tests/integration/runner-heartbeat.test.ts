import { LEASE_TOKEN_HEADER, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { expect, test } from "vitest"
import { REPO, until } from "./review-fixture.ts"
import { beat, codeOf, leased } from "./runner-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"

test("tells a runner with its heartbeat to go on, to stop, or that a newer head waits", async () => {
  const { server, lease } = await leased()
  const action = async (usage = noUsage) =>
    ((await (await server.on(lease, "heartbeat", { ...beat, usage })).json()) as { action: string }).action
  expect(await action()).toBe("continue")
  await server.github.pushHead({ repo: REPO, number: 1 }, server.change.baseSha)
  // Within the second of its opening the push is looked up at GitHub first.
  await until(action, (told) => told === "superseded")
  // What was paid for is finished.
  expect(await action({ ...noUsage, modelCalls: 1 })).toBe("continue")
  await server.github.closePullRequest({ repo: REPO, number: 1 })
  await until(action, (told) => told === "cancel")
})

const spent = (over: object) => ({ ...beat, usage: { ...noUsage, ...over } })
const unfit: [string, string, string | undefined][] = [
  ["an unknown phase", JSON.stringify({ ...beat, phase: "resting" }), "phase"],
  ["an unknown field", JSON.stringify({ ...beat, extra: 1 }), "extra"],
  ["a progress of 201 characters", JSON.stringify({ ...beat, progress: "x".repeat(201) }), "progress"],
  ["a negative count", JSON.stringify(spent({ modelCalls: -1 })), "usage.modelCalls"],
  ["half a call", JSON.stringify(spent({ modelCalls: 0.5 })), "usage.modelCalls"],
  ["more tokens than any job has", JSON.stringify(spent({ inputTokens: 1e12 + 1 })), "usage.inputTokens"],
  ["more tokens than a number can count", JSON.stringify(spent({ inputTokens: 2 ** 60 })), "usage.inputTokens"],
  ["a count in words", JSON.stringify(spent({ toolCalls: "7" })), "usage.toolCalls"],
  ["an endless cost", JSON.stringify(spent({ costUsd: 9 })).replace("9", "1e309"), "usage.costUsd"],
  ["a cost below nothing", JSON.stringify(spent({ costUsd: -0.01 })), "usage.costUsd"],
  ["a count that is no number", JSON.stringify(beat).replace('"modelCalls":0', '"modelCalls":NaN'), undefined],
]

// B51
test("refuses a heartbeat that does not fit, names the field and keeps what was known", async () => {
  const { server, lease } = await leased()
  await server.on(lease, "heartbeat", spent({ modelCalls: 1 }))
  for (const [what, text, field] of unfit) {
    const answer = await server.app.request(`${RUNNER_PROTOCOL_PATH}/leases/${lease.leaseId}/heartbeat`, {
      method: "POST",
      body: text,
      headers: { authorization: `Bearer ${RUNNER_TOKEN}`, [LEASE_TOKEN_HEADER]: lease.leaseToken },
    })
    const refusal = await codeOf(answer)
    expect(refusal, what).toMatchObject({ status: 422, code: "request_invalid" })
    expect(refusal.field, what).toBe(field)
  }
  const [run] = await server.context.store.sql<[{ usage: object }]>`select usage from review_runs`
  expect(run.usage).toMatchObject({ modelCalls: 1 })
})
