import { createSign } from "node:crypto"
import { z } from "zod"
import type { FakeGitHub } from "../fake-github.ts"

export type Answer = Readonly<{ status: number; headers: Headers; body: unknown }>
export type Call = Readonly<{ token?: string; body?: unknown; headers?: Record<string, string> }>

/** Asks REST at `origin` (`apiUrl` or `rootApiUrl`); an empty answer has the body null. */
export async function ask(origin: string, method: string, path: string, { token, body, headers }: Call = {}): Promise<Answer> {
  const response = await fetch(origin + path, {
    method,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
}

/** The App's own token. `claims` replace the usual ones. */
export function appToken(
  fake: FakeGitHub,
  claims: Record<string, unknown> = {},
  privateKeyPem: string | null = fake.privateKeyPem,
): string {
  const now = Math.floor(Date.now() / 1000)
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const content = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: now - 30, exp: now + 540, iss: fake.state.app.id, ...claims })}`
  const signature = createSign("RSA-SHA256")
    .update(content)
    .sign(privateKeyPem ?? "")
  return `${content}.${signature.toString("base64url")}`
}

/** A token of an installation. `narrowing` goes into the body as it is. */
export async function installationToken(fake: FakeGitHub, id: number, narrowing: unknown = {}): Promise<string> {
  const answer = await ask(fake.apiUrl, "POST", `/app/installations/${id}/access_tokens`, { token: appToken(fake), body: narrowing })
  return z.object({ token: z.string() }).parse(answer.body).token
}

/** A field deep in an answer; undefined when it is not there. */
export function field(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), value)
}
