import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"
import { GalleyError } from "@galley/contract/errors"
import type { LeaseFailure } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { expect, onTestFinished, test } from "vitest"
import { connectServer } from "./server-client.ts"
import { exampleBeat, exampleLease, exampleSkip } from "./testing/example-lease.ts"

const TOKEN = "runner-token-of-these-tests"
const lease = exampleLease()
const failure: LeaseFailure = { fence: lease.fence, code: "engine_crashed", detail: "", retryable: true, usage: noUsage }
const request = {
  requestId: crypto.randomUUID(),
  runnerName: "r",
  runnerVersion: "1",
  capabilities: [],
  freeSlots: 1,
  waitMs: 0,
}
const patient = () => AbortSignal.timeout(10_000)

type Seen = Readonly<{ path: string; headers: IncomingMessage["headers"]; body: unknown }>
type Answer = (response: ServerResponse, request: IncomingMessage) => void

const json =
  (status: number, body: unknown): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }
const refusal = (status: number, code: string) => json(status, { error: { code, message: `about ${code}` } })
const cutOff: Answer = (_response, request) => {
  request.socket.destroy()
}

/** A server that gives its answers in turn, the last one for all further requests, and a client of it. */
async function connect(...answers: readonly Answer[]) {
  const seen: Seen[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    seen.push({ path: incoming.url ?? "", headers: incoming.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    answers[Math.min(seen.length, answers.length) - 1]?.(response, incoming)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = connectServer(url, TOKEN)
  onTestFinished(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { client, seen, url }
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error("nothing was thrown")
}

test("a lease comes with its runner's token, and every verb on it with the lease's own", async () => {
  const { client, seen } = await connect(json(200, lease), json(200, { action: "continue" }))
  expect(await client.lease(request, patient())).toEqual(lease)
  expect(await client.heartbeat(lease, exampleBeat, patient())).toEqual({ action: "continue" })
  expect(seen.map(({ path }) => path)).toEqual(["/runner/v1/leases", `/runner/v1/leases/${lease.leaseId}/heartbeat`])
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`])
  expect(seen.map(({ headers }) => headers["galley-lease-token"])).toEqual([undefined, lease.leaseToken])
  expect(seen[1]?.body).toEqual(exampleBeat)
})

test("no content means that there is no job", async () => {
  const { client } = await connect((response) => response.writeHead(204).end())
  expect(await client.lease(request, patient())).toBeNull()
})

test.each([
  [401, "runner_unauthorized"],
  [409, "lease_lost"],
  [403, "runner_paused"],
  [426, "runner_too_old"],
])("a refusal with %i carries the server's code %s", async (status, code) => {
  const { client } = await connect(refusal(status, code))
  expect(await thrownBy(client.heartbeat(lease, exampleBeat, patient()))).toMatchObject({ code, details: { status } })
})

test.each<readonly [what: string, answer: Answer]>([
  ["an error of another form", json(500, { message: "oops" })],
  ["an unknown code", refusal(400, "no_such_code")],
  ["a page instead of JSON", (response) => response.writeHead(502).end("<html>Bad gateway</html>")],
  ["an answer that is no JSON", (response) => response.writeHead(200).end("yes")],
  ["an answer of another form", json(200, { action: "explode" })],
  ["a broken connection", cutOff],
])("%s is no answer of the server", async (_what, answer) => {
  const { client } = await connect(answer)
  expect(await thrownBy(client.heartbeat(lease, exampleBeat, patient()))).toMatchObject({ code: "server_unreachable" })
})

test("a redirect is refused, so that no token reaches another address", async () => {
  const other = await connect(json(200, { action: "continue" }))
  const { client } = await connect((response) => response.writeHead(307, { location: `${other.url}/elsewhere` }).end())
  expect(await thrownBy(client.heartbeat(lease, exampleBeat, patient()))).toMatchObject({ code: "server_unreachable" })
  expect(other.seen).toEqual([])
})

test("a result is sent again, unchanged, until the server has it", async () => {
  const { client, seen } = await connect(cutOff, refusal(500, "internal_error"), refusal(503, "intake_store_unavailable"), json(200, {}))
  const result = exampleSkip()
  await client.result(lease, result, patient())
  expect(seen.map(({ body }) => body)).toEqual([result, result, result, result])
})

test("a failure is sent again until the server has it", async () => {
  const { client, seen } = await connect(cutOff, json(200, {}))
  await client.failure(lease, failure, patient())
  expect(seen.map(({ body }) => body)).toEqual([failure, failure])
})

test.each(["lease_lost", "result_conflict", "result_too_large", "request_invalid"])(
  "a result refused with %s is not sent again",
  async (code) => {
    const { client, seen } = await connect(refusal(409, code))
    expect(await thrownBy(client.result(lease, exampleSkip(), patient()))).toMatchObject({ code })
    expect(seen).toHaveLength(1)
  },
)

test("a hand-over that is given up between two tries tells what stood in its way", async () => {
  const { client } = await connect(refusal(500, "internal_error"))
  expect(await thrownBy(client.result(lease, exampleSkip(), AbortSignal.timeout(600)))).toMatchObject({ code: "internal_error" })
})

test("an abort ends a request that waits for its answer, with the abort's own reason", async () => {
  const giveUp = new AbortController()
  const reason = new Error("enough")
  const { client } = await connect(() => giveUp.abort(reason))
  expect(await thrownBy(client.lease(request, giveUp.signal))).toBe(reason)
})

test("a job that is given back first tells what it has used", async () => {
  const { client, seen } = await connect(json(200, { action: "cancel" }), cutOff, json(200, {}))
  await client.release(lease, exampleBeat, patient())
  const verbs = seen.map(({ path }) => path.split("/").at(-1))
  expect(verbs).toEqual(["heartbeat", "release", "heartbeat", "release"])
  expect(seen[0]?.body).toEqual(exampleBeat)
})

test("no error shows a token, however deep one looks", async () => {
  const answers: Answer[] = [cutOff, refusal(401, "runner_unauthorized"), json(200, { leaseToken: lease.leaseToken })]
  const { client } = await connect(...answers)
  for (const _ of answers) {
    const error = await thrownBy(client.credentials(lease, patient()))
    expect(error).toBeInstanceOf(GalleyError)
    const shown = inspect(error, { depth: 20, showHidden: true })
    expect(shown).not.toContain(TOKEN)
    expect(shown).not.toContain(lease.leaseToken)
  }
})
