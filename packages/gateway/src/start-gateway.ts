import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { errorCode, GalleyError } from "@galley/contract/errors"
import { redact } from "@galley/redaction/redact"
import { openModelAgent } from "./call-model.ts"
import type { Gateway, GatewayOptions, GatewayVerdict } from "./gateway.ts"
import { isAuthorized, refuseModelCall, sendJson } from "./http-edge.ts"
import { openLedger } from "./ledger.ts"
import { answerModelCall, combinedUsage, type ModelRoute } from "./model-route.ts"
import { prepareMessage } from "./prepare-message.ts"
import { rememberMessages } from "./remember-messages.ts"
import { openShim } from "./shim-routes.ts"

const MODEL_PATH = "/v1/chat/completions"
/** PR-Agent reads contents in parallel, and takes a connection that is refused for an empty file. */
const MAX_CONNECTIONS = 128
/** Model calls under way at a time: an engine makes one, and each may hold whole bodies in memory. */
const MAX_PARALLEL_CALLS = 4
const MAX_REFUSALS = 100

/**
 * Opens the one address an engine can reach, on 127.0.0.1, for one job. Serves the model below `/v1` and, with `options.shim`, GitHub at
 * the root; everything else is refused. The first failure becomes the verdict; from then on every model call is refused, so that a job
 * ends at once whatever its engine tries.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const secrets = [...options.knownSecrets, options.model.apiKey, options.token]
  const agent = openModelAgent(options.limits)
  const closing = new AbortController()
  const refusals: string[] = []
  let verdict: GatewayVerdict | null = null
  let parallelCalls = 0
  const route: ModelRoute = {
    options,
    agent,
    ledger: openLedger(options.limits, options.usageSoFar, options.model),
    record: { usage: { toolCalls: 0, toolFiles: 0, toolResultBytes: 0 }, examined: new Set(), misled: [], finishReasons: [] },
    prepareMessages: rememberMessages((message) => prepareMessage(message, secrets, options)),
  }

  function judge(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    verdict ??= { code: errorCode(error), message: redact(message, secrets).text }
  }

  async function answerModel(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once("close", () => {
      if (!response.writableFinished) gone.abort()
    })
    parallelCalls += 1
    try {
      if (verdict !== null) throw new GalleyError(verdict.code, "the job has already failed")
      if (parallelCalls > MAX_PARALLEL_CALLS) throw new GalleyError("model_request_invalid", "too many model calls at a time")
      await answerModelCall(route, request, response, AbortSignal.any([closing.signal, gone.signal]))
    } catch (error) {
      // An engine that hung up, or a gateway that closes, is no failure of the model.
      if (gone.signal.aborted || closing.signal.aborted) return
      judge(error)
      refuseModelCall(response)
    } finally {
      parallelCalls -= 1
    }
  }

  function refuse(request: IncomingMessage, status: 401 | 403 | 404): string {
    const entry = redact(`${request.method} ${(request.url ?? "").slice(0, 200)} -> ${status}`, secrets).text
    if (refusals.length < MAX_REFUSALS) refusals.push(entry)
    return entry
  }

  const server = createServer((request, response) => {
    const path = request.url ?? ""
    if (path === MODEL_PATH && request.method === "POST" && isAuthorized(request, options.token, ["bearer"])) {
      void answerModel(request, response)
    } else if (shim !== null && !path.startsWith("/v1/") && isAuthorized(request, options.token, ["bearer", "token"])) {
      void shim.answer(request, response)
    } else {
      const status = isAuthorized(request, options.token, ["bearer", "token"]) ? 404 : 401
      refuse(request, status)
      sendJson(response, status, { message: "not available" }, { connection: "close" })
    }
  })
  server.maxConnections = MAX_CONNECTIONS
  // An idle connection must outlive the engine's own pauses: a reset is a new, counted call.
  server.keepAliveTimeout = options.limits.jobTimeoutMs
  for (const event of ["connect", "upgrade"] as const) {
    server.on(event, (request: IncomingMessage, socket) => {
      refuse(request, 403)
      socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    })
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port, "127.0.0.1", resolve)
  })
  const url = addressOf(server.address())
  const shim = options.shim === null ? null : openShim(options.shim, url, secrets, closing.signal, judge)

  return {
    url,
    usage: () => combinedUsage(route),
    verdict: () => verdict,
    finishReasons: () => [...route.record.finishReasons],
    examinedPaths: () => [...route.record.examined],
    shimWrites: () => shim?.writes() ?? [],
    shimFailures: () => shim?.failures() ?? [],
    refusals: () => [...refusals, ...route.record.misled.map((tool) => `${tool} -> outside the export`)],
    async close() {
      closing.abort()
      server.closeAllConnections()
      await Promise.all([new Promise<void>((resolve) => server.close(() => resolve())), agent.destroy()])
    },
  }
}

function addressOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === "string") throw new GalleyError("internal_error", "the gateway has no port")
  return `http://127.0.0.1:${address.port}`
}
