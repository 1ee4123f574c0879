import { createHmac, randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { type TestServer, WEBHOOK_SECRET } from "./server-fixture.ts"

const fixtures = new URL("../../packages/github/src/fixtures/webhooks/", import.meta.url)

/** A recorded payload, by its file name. */
export const payload = (file: string) => JSON.parse(readFileSync(new URL(file, fixtures), "utf8"))

/** What stands in a request. */
export type Body = string | Uint8Array<ArrayBuffer>

export const sign = (body: Body, algorithm = "sha256", secret = WEBHOOK_SECRET) =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest("hex")}`

/** Headers of a `ping` delivery of the body; undefined leaves one out. */
export function signedHeaders(body: Body, over: Record<string, string | undefined> = {}): Record<string, string> {
  const headers: Record<string, string | undefined> = {
    "content-type": "application/json",
    "x-github-event": "ping",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": sign(body),
    ...over,
  }
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Sends exactly this. @returns status and error code of the answer; null for an accepted delivery */
export async function send(
  server: TestServer,
  body: Body,
  over: Record<string, string | undefined> = {},
): Promise<{ status: number; code: string | null }> {
  const answer = await server.app.request("/webhooks/github", { method: "POST", body, headers: signedHeaders(body, over) })
  const { error } = (await answer.json()) as { error?: { code: string } }
  return { status: answer.status, code: error?.code ?? null }
}

/** Makes the payload's installation and repository known, and the project active. */
export async function knowTheProject(server: TestServer, body: ReturnType<typeof payload>): Promise<void> {
  const { repository } = body
  if (body.installation === undefined || repository === undefined) return
  await server.deliver("installation", {
    action: "created",
    installation: { id: body.installation.id, account: { login: repository.owner.login, id: 1 } },
    repositories: [{ id: repository.id, name: repository.name, full_name: repository.full_name, private: true }],
  })
  await server.context.store.sql`update projects set settings = '{"active": true}'`
}

export const jobs = (server: TestServer) =>
  server.context.store.sql`select state, code, cause, head_sha as "headSha" from review_jobs order by first_queued_at`

/** How many deliveries are stored. */
export const storedDeliveries = async (server: TestServer) =>
  (await server.context.store.sql<[{ n: number }]>`select count(*)::int as n from webhook_deliveries`)[0].n
