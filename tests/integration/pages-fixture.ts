import type { Role } from "@galley/store/schema"
import { createSession } from "@galley/store/sessions/create-session"
import { ensureMember } from "@galley/store/workspaces/ensure-member"
import { recordUser } from "@galley/store/workspaces/record-user"
import { startTestServer, type TestServer } from "./server-fixture.ts"
import { seedTenant, type Tenant } from "./store-fixture.ts"

export const ORIGIN = "http://127.0.0.1:8080"

/** Somebody with a browser, signed in or not. Paths below a workspace start at its slug. */
export type Visitor = Readonly<{
  get(path: string, headers?: Record<string, string>): Promise<Response>
  getJson<T = Record<string, never>>(path: string): Promise<T>
  /** Submits a form as a browser does. */
  submit(path: string, fields: Record<string, string> | FormData, headers?: Record<string, string>): Promise<Response>
  postJson(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}>

/** A workspace with a project, and where its pages are. */
export type PagesTenant = Tenant & Readonly<{ slug: string; base: string; projectPath: string; settingsPath: string }>

export async function seedPagesTenant(server: TestServer, settings: Record<string, unknown> = {}): Promise<PagesTenant> {
  const { store } = server.context
  const tenant = await seedTenant(store, { settings })
  const [workspace] = await store.sql<[{ slug: string }]>`select slug from workspaces where id = ${tenant.workspaceId}`
  const base = `/w/${workspace.slug}`
  const projectPath = `${base}/projects/${tenant.projectId}`
  return { ...tenant, slug: workspace.slug, base, projectPath, settingsPath: `${projectPath}/settings` }
}

export function visitor(server: TestServer, cookie: string | null): Visitor {
  const request = async (method: string, path: string, headers: Record<string, string>, body?: string | FormData | URLSearchParams) =>
    server.app.request(path, {
      method,
      headers: { ...(cookie === null ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const json = { accept: "application/json" }
  return {
    get: (path, headers = {}) => request("GET", path, { accept: "text/html", ...headers }),
    getJson: async <T>(path: string) => (await (await request("GET", path, json)).json()) as T,
    submit: (path, fields, headers = {}) =>
      request(
        "POST",
        path,
        { accept: "text/html", origin: ORIGIN, ...headers },
        fields instanceof FormData ? fields : new URLSearchParams(fields),
      ),
    postJson: (path, body, headers = {}) =>
      request("POST", path, { ...json, "content-type": "application/json", origin: ORIGIN, ...headers }, JSON.stringify(body)),
  }
}

let people = 0

/** A signed-in member of the workspace with this role. */
export async function member(server: TestServer, tenant: Tenant, role: Role): Promise<Visitor> {
  const { store } = server.context
  const person = { hostId: tenant.hostId, githubUserId: 1_000 + people++, login: `${role}-${people}`, name: "", avatarUrl: null }
  const userId = await recordUser(store.sql, person)
  await ensureMember(store.sql, tenant.workspaceId, userId, role)
  return visitor(server, `galley_session=${await createSession(store, userId)}`)
}

/** A server, a tenant on it, and its owner. */
export async function startPages(
  settings: Record<string, unknown> = {},
): Promise<{ server: TestServer; tenant: PagesTenant; owner: Visitor }> {
  const server = await startTestServer({ GALLEY_PUBLIC_URL: ORIGIN })
  const tenant = await seedPagesTenant(server, settings)
  return { server, tenant, owner: await member(server, tenant, "owner") }
}
