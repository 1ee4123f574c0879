import { GalleyError } from "@galley/contract/errors"
import { NEUTRAL_MODEL } from "@galley/gateway/gateway"
import { Agent, request } from "undici"
import { z } from "zod"
import { AgentList, EffectiveConfig } from "./check-rules.ts"
import { AGENT_NAME, PROVIDER_ID } from "./opencode-config.ts"

/** Bytes of one answer of the control server; a message repeats what the model said, which the gateway bounds. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const USER = "opencode"

const Session = z.object({ id: z.string().regex(/^ses_\w+$/) })
/** HTTP is 200 for a failed message too: `error` tells. */
const MessageAnswer = z.object({
  info: z.object({ error: z.object({ name: z.string().max(100) }).nullish(), structured: z.unknown().optional() }),
})
export type MessageAnswer = z.infer<typeof MessageAnswer>

export type ReviewMessage = Readonly<{ text: string; resultSchema: object }>

/** The control API of one engine, as far as a review needs it. Calls throw `engine_crashed` when the engine does not answer. */
export type OpenCodeClient = Readonly<{
  agents(signal: AbortSignal): Promise<z.infer<typeof AgentList>>
  config(signal: AbortSignal): Promise<z.infer<typeof EffectiveConfig>>
  createSession(title: string, signal: AbortSignal): Promise<string>
  /** Resolves when the engine is done, however long the model takes; bound it by the signal. */
  sendMessage(sessionId: string, message: ReviewMessage, signal: AbortSignal): Promise<MessageAnswer>
  /** The engine goes on when its client disconnects: only this stops its model calls. */
  abortSession(sessionId: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}>

/** A client of its own per engine: the next engine listens on the same port, where a kept connection would break. */
export function openCodeClient(url: string, password: string): OpenCodeClient {
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, pipelining: 0 })
  const authorization = `Basic ${Buffer.from(`${USER}:${password}`).toString("base64")}`

  async function call<T>(method: "GET" | "POST", path: string, body: object | null, answer: z.ZodType<T>, signal: AbortSignal): Promise<T> {
    const headers = { authorization, "content-type": "application/json" }
    const response = await request(`${url}${path}`, {
      method,
      headers,
      dispatcher,
      signal,
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      throw signal.aborted ? signal.reason : new GalleyError("engine_crashed", "the engine does not answer", { cause })
    })
    const text = await boundedText(response.body, signal)
    if (response.statusCode !== 200) throw failed(path, { status: response.statusCode })
    return parseAnswer(path, text, answer)
  }

  return {
    agents: (signal) => call("GET", "/agent", null, AgentList, signal),
    config: (signal) => call("GET", "/config", null, EffectiveConfig, signal),
    // a session without a title makes the engine ask the model for one
    createSession: async (title, signal) => (await call("POST", "/session", { title }, Session, signal)).id,
    sendMessage: (sessionId, message, signal) => call("POST", `/session/${sessionId}/message`, messageBody(message), MessageAnswer, signal),
    abortSession: async (sessionId, signal) => {
      await call("POST", `/session/${sessionId}/abort`, {}, z.unknown(), signal)
    },
    close: () => dispatcher.destroy(),
  }
}

/** Never with `tools`: they would lift the deny rules, up to a shell. */
function messageBody(message: ReviewMessage): object {
  return {
    agent: AGENT_NAME,
    model: { providerID: PROVIDER_ID, modelID: NEUTRAL_MODEL },
    format: { type: "json_schema", schema: message.resultSchema },
    parts: [{ type: "text", text: message.text }],
  }
}

async function boundedText(body: AsyncIterable<Buffer>, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_ANSWER_BYTES) throw new GalleyError("engine_output_invalid", "the engine's answer is too large")
      chunks.push(chunk)
    }
  } catch (cause) {
    if (cause instanceof GalleyError) throw cause
    throw signal.aborted ? signal.reason : new GalleyError("engine_crashed", "the engine broke its answer off", { cause })
  }
  return Buffer.concat(chunks).toString("utf8")
}

function parseAnswer<T>(path: string, text: string, answer: z.ZodType<T>): T {
  try {
    return answer.parse(JSON.parse(text))
  } catch (cause) {
    throw new GalleyError("engine_failed", "an answer of the engine has another shape", { cause, details: { route: route(path) } })
  }
}

const failed = (path: string, details: Readonly<{ status: number }>) =>
  new GalleyError("engine_failed", "the engine refused a request", { details: { ...details, route: route(path) } })

const route = (path: string) => path.replace(/ses_\w+/, ":id")
