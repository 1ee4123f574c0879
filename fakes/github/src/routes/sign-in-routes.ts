import { randomBytes } from "node:crypto"
import { Hono } from "hono"
import { html } from "hono/html"
import type { Context, Env } from "../context.ts"
import type { Account } from "../state.ts"

const CODE_LIFETIME_MS = 600_000
const TOKEN_LIFETIME_MS = 8 * 3_600_000
const REFRESH_LIFETIME_SECONDS = 15_811_200

/** The App's OAuth sign-in. Who signs in is chosen on a page, or named by the `login` parameter. */
export function signInRoutes({ state, now }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  const codes = new Map<string, { account: Account; expiresAtMs: number }>()
  const refreshTokens = new Map<string, Account>()

  const grant = (account: Account) => {
    const token = `ghu_${randomBytes(18).toString("hex")}`
    const refresh = `ghr_${randomBytes(30).toString("hex")}`
    state.userTokens.set(token, { token, account, expiresAtMs: now() + TOKEN_LIFETIME_MS })
    refreshTokens.set(refresh, account)
    return {
      access_token: token,
      expires_in: TOKEN_LIFETIME_MS / 1000,
      refresh_token: refresh,
      refresh_token_expires_in: REFRESH_LIFETIME_SECONDS,
      scope: "",
      token_type: "bearer",
    }
  }

  routes.get("/login/oauth/authorize", (c) => {
    const { client_id: clientId, redirect_uri: redirect, state: echo = "", login } = c.req.query()
    if (clientId !== state.app.clientId || !redirect) return c.notFound()
    const people = [...state.accounts.values()].filter((account) => account.type === "User")
    const account = people.find((one) => one.login.toLowerCase() === login?.toLowerCase())
    if (account) {
      const code = randomBytes(10).toString("hex")
      codes.set(code, { account, expiresAtMs: now() + CODE_LIFETIME_MS })
      const target = new URL(redirect)
      target.searchParams.set("code", code)
      target.searchParams.set("state", echo)
      return c.redirect(target.toString())
    }
    const links = people.map((one) => {
      const query = new URLSearchParams({ ...c.req.query(), login: one.login })
      return html`<li><a href="?${query.toString()}">${one.login}</a></li>`
    })
    return c.html(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
      <body><main><h1>Sign in to ${state.app.name} as</h1><ul>${links}</ul></main></body></html>`)
  })

  routes.post("/login/oauth/access_token", async (c) => {
    const asked = new URLSearchParams(await readForm(c.req.raw))
    const answer = exchange(asked)
    return c.req.header("accept")?.includes("json")
      ? c.json(answer)
      : c.body(new URLSearchParams(Object.entries(answer).map(([k, v]) => [k, String(v)])).toString())
  })

  /** GitHub answers a wrong code or secret with 200 and an error in the body. */
  function exchange(asked: URLSearchParams): Record<string, string | number> {
    if (asked.get("client_id") !== state.app.clientId || asked.get("client_secret") !== state.app.clientSecret) {
      return { error: "incorrect_client_credentials", error_description: "The client_id and/or client_secret passed are incorrect." }
    }
    if (asked.get("grant_type") === "refresh_token") {
      const account = takeFrom(refreshTokens, asked.get("refresh_token") ?? "")
      return account
        ? grant(account)
        : { error: "bad_refresh_token", error_description: "The refresh token passed is incorrect or expired." }
    }
    const code = takeFrom(codes, asked.get("code") ?? "")
    if (code && code.expiresAtMs > now()) return grant(code.account)
    return { error: "bad_verification_code", error_description: "The code passed is incorrect or expired." }
  }
  return routes
}

/** A value that can be taken once. */
function takeFrom<T>(values: Map<string, T>, key: string): T | undefined {
  const value = values.get(key)
  values.delete(key)
  return value
}

/** Fields of a form or JSON body. */
async function readForm(request: Request): Promise<Record<string, string>> {
  const text = await request.text()
  const json = request.headers.get("content-type")?.includes("json") ?? false
  const fields: unknown = json ? JSON.parse(text || "{}") : Object.fromEntries(new URLSearchParams(text))
  return Object.fromEntries(Object.entries(fields ?? {}).map(([name, value]) => [name, String(value)]))
}
