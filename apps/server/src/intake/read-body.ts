import { GalleyError } from "@galley/contract/errors"

/**
 * Reads a request body up to `maxBytes`, within `timeoutMs` in all.
 *
 * @throws `webhook_too_large` as soon as the cap is passed (nothing more is read), `webhook_timeout` when the body is too slow
 */
export async function readBody(request: Request, maxBytes: number, timeoutMs: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? "0")
  if (declared > maxBytes) throw new GalleyError("webhook_too_large", `the body is larger than ${maxBytes} bytes`)
  const reader = request.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new GalleyError("webhook_timeout", `the body took longer than ${timeoutMs} ms`)), timeoutMs)
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), timeout.promise])
      if (done) return Buffer.concat(chunks)
      bytes += value.byteLength
      if (bytes > maxBytes) throw new GalleyError("webhook_too_large", `the body is larger than ${maxBytes} bytes`)
      chunks.push(value)
    }
  } finally {
    clearTimeout(timer)
    // Whatever ended the loop, the sender is not read any further.
    await reader.cancel().catch(() => undefined)
  }
}
