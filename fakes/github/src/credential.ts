import { badCredentials, RestError } from "./rest-error.ts"
import type { Account, Installation, Permissions, State } from "./state.ts"
import { verifyAppJwt } from "./verify-app-jwt.ts"

/** Who asks. `repositoryIds` is what the token reaches now: its narrowing within the installation. */
export type Credential =
  | Readonly<{ kind: "none" }>
  | Readonly<{ kind: "app" }>
  | Readonly<{
      kind: "installation"
      installation: Installation
      repositoryIds: ReadonlySet<number>
      permissions: Permissions
      token: string
    }>
  | Readonly<{ kind: "user"; account: Account; token: string }>

/**
 * Reads an Authorization header: `Bearer` or `token`, or `Basic` whose password is the token (as git sends it).
 * Throws RestError 401 for unknown, expired and revoked tokens, 403 for a suspended installation.
 */
export function readCredential(header: string | undefined, state: State, nowMs: number): Credential {
  if (!header) return { kind: "none" }
  const token = tokenOf(header)
  if (token.split(".").length === 3) {
    verifyAppJwt(token, state.app, nowMs / 1000)
    return { kind: "app" }
  }
  return installationCredential(token, state, nowMs) ?? userCredential(token, state, nowMs) ?? refuse()
}

function refuse(): never {
  throw badCredentials()
}

function tokenOf(header: string): string {
  const [, scheme = "", value = ""] = /^(\S+) +(\S+)$/.exec(header.trim()) ?? []
  if (scheme.toLowerCase() !== "basic") return value
  const [user = "", password = ""] = Buffer.from(value, "base64").toString().split(":")
  return password || user
}

function installationCredential(token: string, state: State, nowMs: number): Credential | null {
  const known = state.installationTokens.get(token)
  const installation = known && state.installations.get(known.installationId)
  if (!known || !installation || known.expiresAtMs <= nowMs) return null
  if (installation.suspendedAt) throw new RestError(403, "This installation has been suspended")
  const repositoryIds = new Set([...installation.repositoryIds].filter((id) => known.repositoryIds?.has(id) ?? true))
  return { kind: "installation", installation, repositoryIds, permissions: known.permissions, token }
}

function userCredential(token: string, state: State, nowMs: number): Credential | null {
  const known = state.userTokens.get(token)
  return known && known.expiresAtMs > nowMs ? { kind: "user", account: known.account, token } : null
}
