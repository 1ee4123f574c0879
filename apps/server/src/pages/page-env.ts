import type { SessionUser } from "@galley/store/sessions/find-session"
import type { WorkspaceForMember } from "@galley/store/workspaces/workspace"
import type { Context } from "hono"
import type { SecureHeadersVariables } from "hono/secure-headers"
import type { ServerContext } from "../context.ts"
import type { LiveRuns } from "./live/live-runs.ts"

/** What the middlewares of the pages found out about a request. */
export type PageEnv = {
  Variables: SecureHeadersVariables & {
    /** Null for a visitor who is not signed in. */
    user: SessionUser | null
    /** The workspace in the address; set on `/w/:slug/*` only. */
    workspace: WorkspaceForMember
  }
}
export type PageContext = Context<PageEnv>

/** What page routes work with. */
export type PageParts = Readonly<{ context: ServerContext; liveRuns: LiveRuns }>

/** Who visits and where, for pages that also show before either is known: hono types every variable as set. */
export function visitOf(c: PageContext): { user: SessionUser | null; workspace: WorkspaceForMember | null } {
  return { user: c.get("user") ?? null, workspace: c.get("workspace") ?? null }
}
