import type { KeyObject } from "node:crypto"
import type { Change } from "./git/read-change.ts"

/** An account: person, organization or App bot (`<slug>[bot]`). */
export type Account = Readonly<{ id: number; login: string; type: "User" | "Organization" | "Bot" }>

export type PermissionLevel = "read" | "write" | "admin"
/** Permission name as GitHub spells it (`contents`, `issues`, ...) to the highest level granted. */
export type Permissions = Readonly<Record<string, PermissionLevel>>

/** The one App this GitHub knows. */
export type App = {
  id: number
  slug: string
  name: string
  owner: Account
  clientId: string
  clientSecret: string
  /** Verifies the App's own tokens (RS256). */
  publicKey: KeyObject
  permissions: Permissions
  events: readonly string[]
  createdAt: string
}

/** Where webhooks go. `enterpriseHost` is sent as X-GitHub-Enterprise-Host; null: as github.com does, without it. */
export type WebhookTarget = { url: string | null; secret: string; enterpriseHost: string | null }

export type Installation = {
  id: number
  account: Account
  permissions: Permissions
  repositoryIds: Set<number>
  suspendedAt: string | null
  createdAt: string
  updatedAt: string
}

export type Repository = {
  id: number
  owner: Account
  name: string
  private: boolean
  fork: boolean
  description: string | null
  defaultBranch: string
  /** Bare mirror of the fake's own; null where no git is served: the head repository of a fork, and one registered without. */
  mirrorDirectory: string | null
  /** Login (lower case) to role, for `author_association` and the permission of a collaborator. */
  collaborators: Map<string, PermissionLevel>
  pullRequests: Map<number, PullRequest>
  /** Changes already read from git, by `base..head`. */
  changes: Map<string, Promise<Change>>
  createdAt: string
  pushedAt: string
}

/** One side of a pull request. */
export type Side = { ref: string; sha: string; repository: Repository }

export type PullRequest = {
  id: number
  number: number
  repository: Repository
  base: Side
  head: Side
  title: string
  body: string | null
  author: Account
  authorAssociation: string
  draft: boolean
  locked: boolean
  state: "open" | "closed"
  merged: boolean
  createdAt: string
  updatedAt: string
  closedAt: string | null
  /** Counted in git whenever base or head moves. */
  facts: Readonly<{ commits: number; additions: number; deletions: number; changedFiles: number }>
}

export type Reaction = Readonly<{ id: number; content: string; user: Account; createdAt: string }>

export type Comment = {
  id: number
  pullRequest: PullRequest
  author: Account
  authorAssociation: string
  /** True when an App installation wrote it. */
  byApp: boolean
  body: string
  reactions: Reaction[]
  createdAt: string
  updatedAt: string
}

/** An installation token. `repositoryIds` null: every repository of the installation. */
export type InstallationToken = {
  token: string
  installationId: number
  repositoryIds: ReadonlySet<number> | null
  permissions: Permissions
  /** Milliseconds since the epoch. */
  expiresAtMs: number
}

/** A person's token from the OAuth sign-in, or one given by a test. */
export type UserToken = { token: string; account: Account; expiresAtMs: number }

/** One attempt at sending one webhook, as `GET /app/hook/deliveries` shows it. */
export type Delivery = Readonly<{
  id: number
  /** X-GitHub-Delivery; the same for every redelivery. */
  guid: string
  event: string
  action: string | null
  deliveredAt: string
  redelivery: boolean
  durationSeconds: number
  status: string
  statusCode: number
  installationId: number | null
  repositoryId: number | null
  url: string
  request: Readonly<{ headers: Readonly<Record<string, string>>; payload: Readonly<Record<string, unknown>> }>
  response: Readonly<{ headers: Readonly<Record<string, string>>; payload: string | null }>
}>

/** Everything this GitHub remembers. Tests may read it freely; they change it through the actions. */
export type State = {
  app: App
  webhook: WebhookTarget
  accounts: Map<string, Account>
  installations: Map<number, Installation>
  repositories: Map<number, Repository>
  comments: Map<number, Comment>
  reactions: Map<number, Reaction[]>
  installationTokens: Map<string, InstallationToken>
  userTokens: Map<string, UserToken>
  deliveries: Delivery[]
  lastId: number
}

/** A number no other object of this GitHub has. */
export function nextId(state: State): number {
  state.lastId += 1
  return state.lastId
}

/** The account with this login (letter case does not matter); made when it is new. */
export function accountOf(state: State, login: string, type: Account["type"] = "User"): Account {
  const key = login.toLowerCase()
  const known = state.accounts.get(key)
  if (known) return known
  const account = { id: nextId(state), login, type }
  state.accounts.set(key, account)
  return account
}

/** The repository called `owner/name`; letter case does not matter. */
export function findRepository(state: State, fullName: string): Repository | undefined {
  const wanted = fullName.toLowerCase()
  return [...state.repositories.values()].find((repository) => fullNameOf(repository).toLowerCase() === wanted)
}

export function fullNameOf(repository: Repository): string {
  return `${repository.owner.login}/${repository.name}`
}

/** The installation that covers the repository, if any. */
export function installationOf(state: State, repository: Repository): Installation | undefined {
  return [...state.installations.values()].find((installation) => installation.repositoryIds.has(repository.id))
}

/** GitHub's time format: UTC, whole seconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z")
}
