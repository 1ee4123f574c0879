import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getRequestListener } from "@hono/node-server"
import type { Hono } from "hono"
import { type Actions, bindActions } from "./bind-actions.ts"
import type { Context, Env } from "./context.ts"
import { createApp } from "./create-app.ts"
import { createFaultInjector } from "./inject-faults.ts"
import type { Links } from "./links.ts"
import { createRateLimits } from "./rate-limit.ts"
import { createRequestLog } from "./request-log.ts"
import { accountOf, type Permissions, type State, timestamp, type WebhookTarget } from "./state.ts"
import { type Carrier, createWebhookOutbox } from "./webhook-outbox.ts"

const HOST = "127.0.0.1"
const HOUR_MS = 3_600_000

export type FakeGitHubOptions = Readonly<{
  /** Port of pages, git and REST as on a GHES host; 0 or left out: any free one. */
  port?: number | undefined
  /** Port of the second listener, where REST stands at the root as on api.github.com; 0 or left out: any free one. */
  apiPort?: number | undefined
  appId?: number | undefined
  slug?: string | undefined
  name?: string | undefined
  clientId?: string | undefined
  clientSecret?: string | undefined
  /** Verifies the App's tokens; left out: derived from `privateKeyPem`, or a new pair is made. */
  publicKeyPem?: string | undefined
  privateKeyPem?: string | undefined
  /** What an installation grants unless it says otherwise. */
  permissions?: Permissions | undefined
  /** Where webhooks go. `enterpriseHost` left out: host and port of the GHES listener; null: none, as from github.com. */
  webhook?: Readonly<{ url?: string | undefined; secret?: string | undefined; enterpriseHost?: string | null | undefined }> | undefined
  /** How webhooks travel; left out: each is sent once, at once. */
  carry?: Carrier | undefined
  /** Lifetime of installation tokens, in milliseconds; left out: one hour. */
  tokenLifetimeMs?: number | undefined
  /** REST calls a caller has an hour; left out: 5000. */
  rateLimitPerHour?: number | undefined
  /** Milliseconds since the epoch; left out: the clock of this machine. */
  now?: (() => number) | undefined
}>

/** A running fake GitHub. */
export type FakeGitHub = Actions &
  Readonly<{
    /** Origin of pages and git, as on a GHES host: `<url>/<owner>/<repo>.git`. */
    url: string
    /** REST of the GHES layout: `<url>/api/v3`. */
    apiUrl: string
    /** REST as on api.github.com: `<rootApiUrl>/repos/...`. */
    rootApiUrl: string
    state: State
    /** The App's private key when the fake knows it (PEM, PKCS#8), to give to the product. */
    privateKeyPem: string | null
    /** Resolves when every webhook that follows an earlier answer has been sent. */
    idle(): Promise<void>
    /** Stops listening, cuts open connections and removes the mirrors. */
    close(): Promise<void>
  }>

const defaultPermissions: Permissions = { contents: "read", issues: "write", metadata: "read", pull_requests: "write" }

/** Starts a fake GitHub on 127.0.0.1. */
export async function startFakeGitHub(options: FakeGitHubOptions = {}): Promise<FakeGitHub> {
  const stopping = new AbortController()
  const mirrorsRoot = await mkdtemp(join(tmpdir(), "fake-github-"))
  const keys = appKeys(options)
  const now = options.now ?? Date.now
  const [web, root] = [createServer(), createServer()]
  const url = await listen(web, options.port ?? 0)
  const rootApiUrl = await listen(root, options.apiPort ?? 0)
  const ghes: Links = { web: url, api: `${url}/api/v3`, flavour: "ghes" }
  const state = createState(options, keys.publicKeyPem, new URL(url).host, now)
  const context: Context = {
    state,
    links: ghes,
    outbox: createWebhookOutbox(state, now, stopping.signal, options.carry),
    faults: createFaultInjector(),
    rateLimits: createRateLimits(options.rateLimitPerHour ?? 5000, now),
    requests: createRequestLog(),
    mirrorsRoot,
    tokenLifetimeMs: options.tokenLifetimeMs ?? HOUR_MS,
    now,
    signal: stopping.signal,
  }
  const actions = bindActions(context)
  const app = createApp(context, actions)
  serve(web, app.ghes)
  serve(root, app.root({ web: url, api: rootApiUrl, flavour: "github.com" }))
  return {
    ...actions,
    url,
    apiUrl: ghes.api,
    rootApiUrl,
    state,
    privateKeyPem: keys.privateKeyPem,
    idle: () => context.outbox.idle(),
    async close() {
      stopping.abort()
      await Promise.all([stop(web), stop(root), context.outbox.idle()])
      await rm(mirrorsRoot, { recursive: true, force: true })
    },
  }
}

function createState(options: FakeGitHubOptions, publicKeyPem: string, host: string, now: () => number): State {
  const { url = null, secret = randomBytes(16).toString("hex"), enterpriseHost = host } = options.webhook ?? {}
  const webhook: WebhookTarget = { url, secret, enterpriseHost }
  const state: Omit<State, "app"> = {
    webhook,
    accounts: new Map(),
    installations: new Map(),
    repositories: new Map(),
    comments: new Map(),
    reactions: new Map(),
    installationTokens: new Map(),
    userTokens: new Map(),
    deliveries: [],
    lastId: 1000,
  }
  const slug = options.slug ?? "galley-review"
  const app: State["app"] = {
    id: options.appId ?? 1,
    slug,
    name: options.name ?? "Galley Review",
    owner: { id: 1, login: "app-owner", type: "Organization" },
    clientId: options.clientId ?? "Iv23fakegithubclient",
    clientSecret: options.clientSecret ?? randomBytes(20).toString("hex"),
    publicKey: createPublicKey(publicKeyPem),
    permissions: options.permissions ?? defaultPermissions,
    events: ["issue_comment", "pull_request", "repository"],
    createdAt: timestamp(now()),
  }
  const whole = { ...state, app }
  accountOf(whole, `${slug}[bot]`, "Bot")
  return whole
}

function appKeys({ publicKeyPem, privateKeyPem }: FakeGitHubOptions): { publicKeyPem: string; privateKeyPem: string | null } {
  if (publicKeyPem) return { publicKeyPem, privateKeyPem: privateKeyPem ?? null }
  if (privateKeyPem)
    return { publicKeyPem: createPublicKey(privateKeyPem).export({ type: "spki", format: "pem" }).toString(), privateKeyPem }
  const pair = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  })
  return { publicKeyPem: pair.publicKey, privateKeyPem: pair.privateKey }
}

async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, HOST)
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the listener has no port")
  return `http://${HOST}:${address.port}`
}

function serve(server: Server, app: Hono<Env>): void {
  server.on(
    "request",
    getRequestListener((request, env) => app.fetch(request, env as Env["Bindings"])),
  )
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, "close")
  server.close()
  server.closeAllConnections()
  await closed
}
