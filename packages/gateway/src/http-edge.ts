import { timingSafeEqual } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { GalleyError, type GalleyErrorCode } from "@galley/contract/errors"

/**
 * What an engine reads when the gateway ends its job. 422 with these words is the one form that neither engine retries: OpenCode retries
 * on digits and words such as "limit" in the text of an error, PR-Agent on other statuses (measured). The reason is in the verdict.
 */
const neutralRefusal = { error: { message: "the job may not go on", type: "job_ended", code: "job_ended" } }

/** Answers 422 with neutral words, whatever happened. */
export function refuseModelCall(response: ServerResponse): void {
  sendJson(response, 422, neutralRefusal)
}

/** Sends a JSON body, unless the peer is gone. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers }).end(JSON.stringify(body))
}

/** True when the request carries `<scheme> <token>` with one of the schemes; compared in constant time. */
export function isAuthorized(request: IncomingMessage, token: string, schemes: readonly string[]): boolean {
  const [scheme = "", given = "", ...rest] = (request.headers.authorization ?? "").split(" ")
  const expected = Buffer.from(token)
  const actual = Buffer.from(given)
  const equal = actual.length === expected.length && timingSafeEqual(actual, expected)
  return equal && rest.length === 0 && schemes.includes(scheme.toLowerCase())
}

/**
 * The whole body. Throws `code` when it is longer than `maxBytes`, after the rest was read and dropped: an engine that is cut off while it
 * sends would see a broken connection, and retry, instead of the answer.
 */
export async function readBody(request: IncomingMessage, maxBytes: number, code: GalleyErrorCode): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes: Buffer = chunk
    size += bytes.length
    if (size <= maxBytes) chunks.push(bytes)
  }
  if (size > maxBytes) throw new GalleyError(code, `the request is larger than ${maxBytes} bytes`)
  return Buffer.concat(chunks)
}
