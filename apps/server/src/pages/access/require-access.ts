import { GalleyError } from "@galley/contract/errors"
import type { Role } from "@galley/store/schema"
import type { SessionUser } from "@galley/store/sessions/find-session"
import { findSession } from "@galley/store/sessions/find-session"
import { getWorkspace } from "@galley/store/workspaces/get-workspace"
import type { MiddlewareHandler } from "hono"
import type { ServerContext } from "../../context.ts"
import type { PageContext, PageEnv } from "../page-env.ts"
import { readSessionCookie } from "./session-cookie.ts"

const ranks: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 }

/** Whether `role` may do what `needed` may do. Pure. */
export const mayActAs = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed]

/** Finds the user behind the session cookie; a visitor without one passes as null. */
export function findUser({ store, config }: ServerContext): MiddlewareHandler<PageEnv> {
  return async (c, next) => {
    const id = readSessionCookie(c, config.publicUrl)
    c.set("user", id === undefined ? null : await findSession(store, id))
    await next()
  }
}

/** Throws `sign_in_required`. */
export function requireUser(c: PageContext): SessionUser {
  const user = c.get("user")
  if (user === null) throw new GalleyError("sign_in_required", "sign in first")
  return user
}

/** Finds the workspace in the address. Throws `sign_in_required`, and `not_found` for a workspace one is no member of. */
export function findWorkspace({ store }: ServerContext): MiddlewareHandler<PageEnv, "/:slug"> {
  return async (c, next) => {
    const user = requireUser(c)
    c.set("workspace", await getWorkspace(store, user.userId, c.req.param("slug")))
    await next()
  }
}

/** Throws `forbidden` when the member's role is less than `needed`. */
export function requireRole(c: PageContext, needed: Role): void {
  if (!mayActAs(c.get("workspace").role, needed)) throw new GalleyError("forbidden", `this needs the role ${needed} or more`)
}
