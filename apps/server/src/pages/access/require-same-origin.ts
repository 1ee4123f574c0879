import { GalleyError } from "@galley/contract/errors"
import type { MiddlewareHandler } from "hono"
import { csrf } from "hono/csrf"

/**
 * Refuses changes that another site's page could have sent: forms by hono's rule (Origin or Sec-Fetch-Site), JSON and everything else by
 * an Origin header that must be ours. Throws `forbidden`.
 */
export function requireSameOrigin(publicUrl: string): MiddlewareHandler {
  const { origin } = new URL(publicUrl)
  const forms = csrf({ origin })
  return async (c, next) => {
    const changes = c.req.method !== "GET" && c.req.method !== "HEAD"
    const isForm = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(c.req.header("content-type") ?? "")
    if (changes && !isForm && c.req.header("origin") !== origin) throw new GalleyError("forbidden", "the request came from another site")
    return forms(c, next)
  }
}
