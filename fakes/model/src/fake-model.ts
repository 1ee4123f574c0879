import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import { z } from "zod"
import { bendAnswer, makeAnswer } from "./answer.ts"
import { ChatRequest, parseJson } from "./chat-request.ts"
import { Mode } from "./modes.ts"
import { playScript, type ScriptPlayer } from "./play-script.ts"
import { errorReply, type Reply, refuse } from "./refuse.ts"
import { sendAnswer } from "./send-answer.ts"
import { spellBody, spellStream } from "./spell-answer.ts"
import type { Script } from "./step.ts"

const MAX_RECORDS = 200

/** A request as it arrived; the authorization header is gone, `authorized` says whether it was right. */
export type RecordedRequest = Readonly<{
  method: string
  path: string
  headers: IncomingHttpHeaders
  authorized: boolean
  bytes: number
  /** Parsed JSON, or the text when it is none. */
  body: unknown
  /** True once the client left before the answer was complete. */
  abandoned: boolean
}>

export type FakeModelOptions = Readonly<{
  /** 0 or missing = any free port of 127.0.0.1 */
  port?: number
  /** The one accepted key; missing = any key, or none. */
  apiKey?: string
  script?: Script
  mode?: Mode
  /** Called with one line for each request. */
  log?: (line: string) => void
}>

export type FakeModel = Readonly<{
  /** Base address as clients want it: `http://127.0.0.1:<port>/v1`. */
  url: string
  /** The newest 200 requests, oldest first. */
  requests: readonly RecordedRequest[]
  setScript: ScriptPlayer["setScript"]
  setMode: ScriptPlayer["setMode"]
  /** Also drops every open connection. */
  close(): Promise<void>
}>

/**
 * Starts a scripted OpenAI-compatible server on the loopback address: `POST /v1/chat/completions` (streaming or not, with tools),
 * `GET /v1/models`, and `POST /_fake/mode` with `{ mode: { name, n? } | null, times? }`.
 */
export async function startFakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const requests: RecordedRequest[] = []
  const player = playScript({ script: options.script ?? null, mode: options.mode ?? null })
  let completions = 0

  const answer = async (incoming: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<Reply | null> => {
    const text = await readText(incoming)
    if (incoming.url === "/_fake/mode" && incoming.method === "POST") return changeMode(parseJson(text), player)
    const record = recordRequest(incoming, text, options.apiKey, response)
    requests.push(record)
    if (requests.length > MAX_RECORDS) requests.shift()
    if (!record.authorized) return errorReply(401, "Incorrect API key provided", "invalid_api_key")
    if (record.path === "/v1/models" && record.method === "GET") return modelList
    if (record.path !== "/v1/chat/completions" || record.method !== "POST") return errorReply(404, "Unknown request address", "not_found")
    const request = ChatRequest.safeParse(record.body)
    if (!request.success) return errorReply(400, z.prettifyError(request.error), "invalid_request_error")
    return complete({ request: request.data, number: ++completions, player, response, signal, origin })
  }

  const server = createServer((incoming, response) => {
    const gone = new AbortController()
    response.on("close", () => gone.abort())
    const log = (outcome: string) => options.log?.(`${incoming.method} ${incoming.url} ${outcome}`)
    answer(incoming, response, gone.signal)
      .then((reply) => {
        if (reply) response.writeHead(reply.status, reply.headers).end(reply.body)
        log(String(reply?.status ?? "answered"))
      })
      .catch((error: unknown) => {
        log(gone.signal.aborted ? "abandoned" : String(error))
        response.destroy()
      })
  })
  server.listen(options.port ?? 0, "127.0.0.1")
  await once(server, "listening")
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url: `${origin}/v1`,
    requests,
    setScript: player.setScript,
    setMode: player.setMode,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Completion = Readonly<{
  request: ChatRequest
  number: number
  player: ScriptPlayer
  response: ServerResponse
  signal: AbortSignal
  origin: string
}>

/** Answers one completion, or returns the reply that stands in its place. */
async function complete({ request, number, player, response, signal, origin }: Completion): Promise<Reply | null> {
  const { step, mode } = player.next(request)
  if (step.delayMs) await wait(step.delayMs, undefined, { signal })
  if (mode?.name === "hang") return null
  if (mode?.name === "reset-early") {
    response.socket?.resetAndDestroy()
    return null
  }
  const refusal = refuse(mode, request, origin)
  if (refusal) return refusal
  const answer = bendAnswer(makeAnswer(step, request), mode, request)
  const identity = { model: request.model, number }
  await sendAnswer(response, request.stream ? spellStream(answer, identity, request, mode) : spellBody(answer, identity), mode, signal)
  return null
}

function recordRequest(incoming: IncomingMessage, text: string, apiKey: string | undefined, response: ServerResponse): RecordedRequest {
  const { authorization, ...headers } = incoming.headers
  return {
    method: incoming.method ?? "",
    path: incoming.url ?? "",
    headers,
    authorized: apiKey === undefined || authorization === `Bearer ${apiKey}`,
    bytes: Buffer.byteLength(text),
    body: parseJson(text) ?? text,
    get abandoned() {
      return response.closed && !response.writableFinished
    },
  }
}

const ModeOrder = z.strictObject({ mode: Mode.nullable(), times: z.int().min(1).optional() })

function changeMode(body: unknown, player: ScriptPlayer): Reply {
  const order = ModeOrder.safeParse(body)
  if (!order.success) return errorReply(400, z.prettifyError(order.error), "invalid_request_error")
  player.setMode(order.data.mode, order.data.times)
  return { status: 204, headers: {}, body: "" }
}

const modelList: Reply = {
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model", created: 1, owned_by: "galley" }] }),
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
