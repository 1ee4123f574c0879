import { GalleyError } from "@galley/contract/errors"
import { createSession } from "@galley/store/sessions/create-session"
import { deleteSession } from "@galley/store/sessions/delete-session"
import { listWorkspaces } from "@galley/store/workspaces/list-workspaces"
import { Hono } from "hono"
import { requireUser } from "../access/require-access.ts"
import { clearSessionCookie, readSessionCookie, writeSessionCookie } from "../access/session-cookie.ts"
import type { PageEnv, PageParts } from "../page-env.ts"
import { readFormData, wantsJson } from "../request-values.ts"
import type { SignedInAnswer } from "../shapes.ts"
import { page } from "../views/layout.tsx"
import { SignInPage } from "../views/sign-in-page.tsx"
import { WorkspacesPage } from "../views/workspaces-page.tsx"

/** Where to go after signing in: a path of this server, never another site. Pure. */
function localPath(wanted: unknown): string {
  return typeof wanted === "string" && /^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) ? wanted : "/"
}

/** The way in and out. */
export function signInRoutes({ context }: PageParts): Hono<PageEnv> {
  const { store, config } = context
  const app = new Hono<PageEnv>()

  app.get("/", async (c) => {
    const [workspace, ...others] = await listWorkspaces(store, requireUser(c).userId)
    return c.redirect(workspace === undefined || others.length > 0 ? "/workspaces" : `/w/${workspace.slug}/projects`, 303)
  })

  app.get("/workspaces", async (c) => {
    const workspaces = await listWorkspaces(store, requireUser(c).userId)
    return c.html(page(<WorkspacesPage c={c} workspaces={workspaces} />))
  })

  app.get("/sign-in", (c) => {
    const next = localPath(c.req.query("next"))
    if (c.get("user") !== null) return c.redirect(next, 303)
    return c.html(page(<SignInPage c={c} demoLogin={config.demoLogin} next={next} />))
  })

  app.post("/sign-in/demo", async (c) => {
    const userId = config.demoLogin ? context.demoUserId : null
    if (userId === null) throw new GalleyError("not_found", "the demo login is off")
    const old = readSessionCookie(c, config.publicUrl)
    if (old !== undefined) await deleteSession(store, old)
    writeSessionCookie(c, config.publicUrl, await createSession(store, userId))
    if (!wantsJson(c)) return c.redirect(localPath((await readFormData(c)).get("next")), 303)
    const workspaces = await listWorkspaces(store, userId)
    return c.json({ workspaces: workspaces.map(({ slug, name }) => ({ slug, name })) } satisfies SignedInAnswer)
  })

  app.post("/sign-out", async (c) => {
    const id = readSessionCookie(c, config.publicUrl)
    if (id !== undefined) await deleteSession(store, id)
    clearSessionCookie(c, config.publicUrl)
    return c.redirect("/sign-in", 303)
  })
  return app
}
