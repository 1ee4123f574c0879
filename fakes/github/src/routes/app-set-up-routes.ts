import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto"
import { Hono, type Context as HonoContext } from "hono"
import { html } from "hono/html"
import { z } from "zod"
import { installOn, PermissionsInput } from "../actions/installations.ts"
import type { Context, Env } from "../context.ts"
import { notFound, unprocessable } from "../rest-error.ts"
import { accountOf, installationOf, nextId } from "../state.ts"
import { appView } from "../views/app-view.ts"

const Manifest = z.object({
  name: z.string().optional(),
  redirect_url: z.url(),
  setup_url: z.url().optional(),
  hook_attributes: z.object({ url: z.url() }).optional(),
  default_permissions: PermissionsInput.optional(),
  default_events: z.array(z.string()).optional(),
})

/**
 * How an App comes to be: a manifest is posted, GitHub sends the browser back with a code, and the code is exchanged
 * for the App's secrets; then the App is installed on an account. The new App takes the place of the one before.
 */
export function appSetUpRoutes(context: Context): Hono<Env> {
  const { state } = context
  const routes = new Hono<Env>()
  const codes = new Map<string, { manifest: z.infer<typeof Manifest>; owner: string }>()
  let setupUrl: string | undefined

  const takeManifest = async (c: HonoContext<Env>) => {
    const { manifest: text } = await c.req.parseBody()
    const manifest = Manifest.safeParse(typeof text === "string" ? JSON.parse(text) : null)
    if (!manifest.success) throw unprocessable("the manifest is not valid", manifest.error.issues)
    const code = randomBytes(20).toString("hex")
    codes.set(code, { manifest: manifest.data, owner: c.req.param("org") ?? "app-owner" })
    const back = new URL(manifest.data.redirect_url)
    back.searchParams.set("code", code)
    back.searchParams.set("state", c.req.query("state") ?? "")
    return c.redirect(back.toString())
  }
  routes.post("/settings/apps/new", takeManifest)
  routes.post("/organizations/:org/settings/apps/new", takeManifest)

  const convert = (c: HonoContext<Env>) => {
    const code = c.req.param("code") ?? ""
    const given = codes.get(code)
    if (!given) throw notFound()
    codes.delete(code)
    const { manifest, owner } = given
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const name = manifest.name ?? "New App"
    const secret = randomBytes(20).toString("hex")
    setupUrl = manifest.setup_url
    Object.assign(state.app, {
      id: nextId(state),
      name,
      slug: name.toLowerCase().replace(/[^a-z0-9]+/g, "-"),
      owner: accountOf(state, owner, "Organization"),
      clientId: `Iv23${randomBytes(8).toString("hex")}`,
      clientSecret: randomBytes(20).toString("hex"),
      publicKey: createPublicKey(pair.publicKey.export({ type: "spki", format: "pem" })),
      permissions: { ...manifest.default_permissions, metadata: "read" },
      events: manifest.default_events ?? [],
    })
    Object.assign(state.webhook, { url: manifest.hook_attributes?.url ?? null, secret })
    const pem = pair.privateKey.export({ type: "pkcs1", format: "pem" }).toString()
    const { clientId: client_id, clientSecret: client_secret } = state.app
    return c.json({ ...appView(state.app, c.get("links")), client_id, client_secret, webhook_secret: secret, pem }, 201)
  }
  for (const prefix of ["", "/api/v3"]) routes.post(`${prefix}/app-manifests/:code/conversions`, convert)

  const install = async (c: HonoContext<Env>) => {
    if (c.req.param("slug") !== state.app.slug) throw notFound()
    const uncovered = [...state.repositories.values()].filter((repository) => !installationOf(state, repository))
    const owners = [...new Set(uncovered.map((repository) => repository.owner))]
    const owner = owners.find((one) => one.login === c.req.query("account"))
    if (!owner) {
      const links = owners.map((one) => html`<li><a href="?account=${one.login}">${one.login}</a></li>`)
      return c.html(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Install</title></head>
        <body><main><h1>Install ${state.app.name} on</h1><ul>${links}</ul></main></body></html>`)
    }
    const installation = await installOn(context, owner)
    const back = new URL(setupUrl ?? context.links.web)
    back.searchParams.set("installation_id", String(installation.id))
    back.searchParams.set("setup_action", "install")
    return c.redirect(back.toString())
  }
  routes.get("/apps/:slug/installations/new", install)
  routes.get("/github-apps/:slug/installations/new", install)
  return routes
}
