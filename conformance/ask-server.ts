import { ErrorBody, LEASE_TOKEN_HEADER, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { type RunnerVerbId, runnerVerbs } from "@galley/contract/runner-openapi"
import { z } from "zod"
import { type Answer, must, mustEqual, Unmet } from "./must.ts"
import type { Server } from "./protocol-client.ts"

/** What proves a lease; a null token is not sent at all. */
export type LeaseKey = Readonly<{ leaseId: string; leaseToken: string | null }>

export type Question = Readonly<{
  /** Bytes and text go out as they are (bytes without a declared length), anything else as JSON. */
  body: unknown
  lease?: LeaseKey
  /** Instead of the runner's own; null: none. */
  authorization?: string | null
  /** On a connection that nothing else uses afterwards: who refuses a body early may leave the rest of it unread. */
  alone?: boolean
  /** The runner's clock, as the `Date` header tells it; left out: not sent. */
  date?: Date
  signal?: AbortSignal
}>

const ANSWER_TIMEOUT_MS = 50_000

/**
 * Sends what a check says, right or wrong.
 *
 * @throws `Unmet` for an answer that the OpenAPI document does not describe; what `fetch` throws when there is none in 50 s or the line breaks
 */
export async function askServer(server: Server, id: RunnerVerbId, question: Question): Promise<Answer> {
  const { lease } = question
  const path = runnerVerbs[id].path.replace("{leaseId}", encodeURIComponent(lease?.leaseId ?? ""))
  const headers = lease?.leaseToken ? { [LEASE_TOKEN_HEADER]: lease.leaseToken } : {}
  const { answer, contentType } = await send(server, path, question, headers)
  judge(id, answer, contentType)
  return answer
}

/** Asks an address that the protocol does not have. The answer must still be an error in the protocol's form. */
export async function askElsewhere(server: Server, path: string, method: string): Promise<Answer> {
  const { answer, contentType } = await send(server, path, { body: method === "GET" ? undefined : {} }, {}, method)
  judgeForm(ErrorBody, answer, contentType, `${method} ${path}`)
  return answer
}

async function send(server: Server, path: string, question: Question, headers: Record<string, string>, method = "POST") {
  const { body, authorization = `Bearer ${server.token}`, alone = false, date, signal } = question
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const response = await fetch(`${server.url}${RUNNER_PROTOCOL_PATH}${path}`, {
    method,
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      ...(authorization === null ? {} : { authorization }),
      ...(alone ? { connection: "close" } : {}),
      ...(date === undefined ? {} : { date: date.toUTCString() }),
      ...headers,
    },
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    ...payloadOf(body),
  })
  const text = await response.text()
  const answer: Answer = { status: response.status, body: parse(text) }
  return { answer, contentType: response.headers.get("content-type") }
}

function payloadOf(body: unknown): RequestInit {
  // A stream needs `duplex`, which the type of the global fetch does not know.
  if (body instanceof ReadableStream) return { body, duplex: "half" } as RequestInit
  if (body === undefined) return {}
  return { body: typeof body === "string" ? body : JSON.stringify(body) }
}

function judge(id: RunnerVerbId, answer: Answer, contentType: string | null): void {
  const verb = runnerVerbs[id]
  const statuses = [200, ...(id === "lease" ? [204] : []), ...verb.errors]
  must(statuses.includes(answer.status), `${id}: status ${answer.status} is not described; its body is ${JSON.stringify(answer.body)}`)
  if (answer.status === 204) must(answer.body === null, `${id}: 204 has no body`)
  else judgeForm(answer.status === 200 ? (verb.answer ?? z.looseObject({})) : ErrorBody, answer, contentType, `${id} ${answer.status}`)
}

function judgeForm(schema: z.ZodType, answer: Answer, contentType: string | null, what: string): void {
  must(/^application\/json *(;|$)/i.test(contentType ?? ""), `${what}: content type ${contentType} instead of application/json`)
  const parsed = schema.safeParse(answer.body)
  must(parsed.success, `${what}: the body has another form: ${parsed.success ? "" : z.prettifyError(parsed.error)}`)
  // In an answer everything is written out: what only a default of the schema would fill in is missing.
  mustEqual(answer.body, parsed.data, `${what}: the body`)
}

function parse(text: string): unknown {
  if (text === "") return null
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Unmet(`a body is not JSON: ${text.slice(0, 200)}`, { cause })
  }
}
