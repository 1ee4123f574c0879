import { GalleyError } from "@galley/contract/errors"
import type { MiddlewareHandler } from "hono"
import { bodyLimit } from "hono/body-limit"

/** Refuses bodies of more than `maxSize` bytes with `code`, before the rest of them is read. */
export function limitBody(maxSize: number, code: "request_too_large" | "result_too_large"): MiddlewareHandler {
  const onError = () => {
    throw new GalleyError(code, `the body is larger than ${maxSize} bytes`)
  }
  return bodyLimit({ maxSize, onError })
}
