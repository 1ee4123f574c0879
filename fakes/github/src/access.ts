import type { Credential } from "./credential.ts"
import { notFound, RestError } from "./rest-error.ts"
import { findRepository, type Installation, type PermissionLevel, type Permissions, type Repository, type State } from "./state.ts"

/** Permission and level; a caller that has any one of a route's needs is let in. */
export type Need = readonly [permission: string, level: PermissionLevel]

const rank: Readonly<Record<PermissionLevel, number>> = { read: 1, write: 2, admin: 3 }

/**
 * The repository `owner/name` when the caller may do what `needs` says with it. As on GitHub a caller who may not
 * even see it gets 404, one who sees it but may not do this gets 403, and anybody may read what is public.
 * Within its own repositories a token is always held to its permissions, even for public ones.
 */
export function openRepository(state: State, credential: Credential, fullName: string, needs: readonly Need[]): Repository {
  const repository = findRepository(state, fullName)
  if (!repository) throw notFound()
  if (credential.kind === "installation" && credential.repositoryIds.has(repository.id)) {
    if (needs.some((need) => holds(credential.permissions, need))) return repository
    throw notAccessible(needs)
  }
  if (!mayRead(credential, repository)) throw notFound()
  if (needs.every(([, level]) => level === "read") || credential.kind === "user") return repository
  throw credential.kind === "none" ? new RestError(401, "Requires authentication") : notAccessible(needs)
}

function holds(permissions: Permissions, [name, level]: Need): boolean {
  const granted = permissions[name]
  return granted !== undefined && rank[granted] >= rank[level]
}

function mayRead(credential: Credential, repository: Repository): boolean {
  if (!repository.private) return credential.kind !== "app"
  return credential.kind === "user" && isMember(repository, credential.account.login)
}

/** True for the owner and the collaborators of a repository. */
export function isMember(repository: Repository, login: string): boolean {
  return repository.owner.login.toLowerCase() === login.toLowerCase() || repository.collaborators.has(login.toLowerCase())
}

function notAccessible(needs: readonly Need[]): RestError {
  const accepted = needs.map(([name, level]) => `${name}=${level}`).join("; ")
  return new RestError(403, "Resource not accessible by integration", { headers: { "x-accepted-github-permissions": accepted } })
}

/** Throws 401 unless the App itself asks. */
export function requireApp(credential: Credential): void {
  if (credential.kind !== "app") throw new RestError(401, "A JSON web token could not be decoded")
}

/** The caller's installation and its narrowing. Throws 401 without a token, 403 for any other caller. */
export function requireInstallation(credential: Credential): Extract<Credential, { kind: "installation" }> {
  if (credential.kind === "installation") return credential
  throw credential.kind === "none"
    ? new RestError(401, "Requires authentication")
    : new RestError(403, "Resource not accessible by integration")
}

/** The installation with this id. Throws 404. */
export function openInstallation(state: State, id: string): Installation {
  const installation = state.installations.get(Number(id))
  if (!installation) throw notFound()
  return installation
}
