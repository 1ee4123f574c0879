import type { HttpBindings } from "@hono/node-server"
import type { Credential } from "./credential.ts"
import type { FaultInjector } from "./inject-faults.ts"
import type { Links } from "./links.ts"
import type { RateLimits } from "./rate-limit.ts"
import type { RequestLog } from "./request-log.ts"
import type { State } from "./state.ts"
import type { WebhookOutbox } from "./webhook-outbox.ts"

/** What routes and actions work on. */
export type Context = Readonly<{
  state: State
  /** Addresses as the GHES listener writes them; webhooks carry these. */
  links: Links
  outbox: WebhookOutbox
  faults: FaultInjector
  rateLimits: RateLimits
  requests: RequestLog
  /** Directory of the bare mirrors. */
  mirrorsRoot: string
  tokenLifetimeMs: number
  /** Milliseconds since the epoch. */
  now: () => number
  /** Aborted when the fake closes. */
  signal: AbortSignal
}>

/** What a request carries through the routes. */
export type Env = { Bindings: HttpBindings; Variables: { credential: Credential; links: Links; fault: string | null } }
