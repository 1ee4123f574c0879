import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"

const NAME = "galley_session"
const MAX_AGE_SECONDS = 30 * 86_400

/** Over https the name gets the `__Host-` prefix, so that no other host and no plain connection can set it. */
const prefixOf = (publicUrl: string) => (publicUrl.startsWith("https:") ? ("host" as const) : undefined)

export function readSessionCookie(c: Context, publicUrl: string): string | undefined {
  const prefix = prefixOf(publicUrl)
  return prefix === undefined ? getCookie(c, NAME) : getCookie(c, NAME, prefix)
}

export function writeSessionCookie(c: Context, publicUrl: string, id: string): void {
  const prefix = prefixOf(publicUrl)
  const options = { path: "/", httpOnly: true, sameSite: "Lax", maxAge: MAX_AGE_SECONDS } as const
  setCookie(c, NAME, id, prefix === undefined ? options : { ...options, secure: true, prefix })
}

export function clearSessionCookie(c: Context, publicUrl: string): void {
  const prefix = prefixOf(publicUrl)
  deleteCookie(c, NAME, prefix === undefined ? { path: "/" } : { path: "/", secure: true, prefix })
}
