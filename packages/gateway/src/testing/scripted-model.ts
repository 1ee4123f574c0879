import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

export type ModelCall = Readonly<{
  method: string
  url: string
  headers: IncomingMessage["headers"]
  text: string
  body: Record<string, unknown>
}>
type Step = (response: ServerResponse, call: ModelCall) => void

/** A provider on the loopback address that answers call by call; the last step answers all further ones. */
export async function startScriptedModel(steps: readonly Step[]) {
  const calls: ModelCall[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const call: ModelCall = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      text,
      body: text ? JSON.parse(text) : {},
    }
    calls.push(call)
    const step = steps[Math.min(calls.length, steps.length) - 1]
    step?.(response, call)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    calls,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

export const usage = { prompt_tokens: 1_000, completion_tokens: 20, total_tokens: 1_020 }

/** Answers with JSON. */
export const json =
  (body: unknown, status = 200): Step =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  }

/** Answers with a whole completion that is not streamed. */
export const completion = (message: Record<string, unknown>, finish = "stop", reported: unknown = usage): Step =>
  json({ choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: finish }], usage: reported })

/** Answers with tool calls. */
export const toolCalls = (...calls: ReadonlyArray<readonly [name: string, args: unknown]>): Step =>
  completion(
    {
      tool_calls: calls.map(([name, args], index) => ({
        id: `call_${index}`,
        type: "function",
        function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
      })),
    },
    "tool_calls",
  )

/** Answers with an event stream of the given data lines, byte by byte cut into `pieceBytes`. */
export const stream =
  (events: readonly string[], pieceBytes = 1_000): Step =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" })
    const bytes = Buffer.from(events.map((event) => `data: ${event}\n\n`).join(""))
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      response.write(bytes.subarray(at, at + pieceBytes))
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }
