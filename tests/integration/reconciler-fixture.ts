import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { makeRepository } from "./make-repository.ts"
import { startTestServer, type TestServer, type TestServerOptions, WEBHOOK_SECRET } from "./server-fixture.ts"

export const REPO = "acme/shop"
export const never = new AbortController().signal

/** A server whose GitHub has one repository, with an active project for it. No webhook reaches the server until `connect`. */
export type OutageRig = Readonly<{
  server: TestServer
  /** Of the repository. */
  directory: string
  /** Commits on top of each other; the first is the base. */
  shas: readonly string[]
  openPullRequest(options?: { number?: number; draft?: boolean; author?: string; headSha?: string }): Promise<void>
  jobs(): Promise<{ state: string; code: string | null; cause: string; headSha: string; number: number }[]>
}>

export async function startOutage(environment: Record<string, string> = {}, options: TestServerOptions = {}): Promise<OutageRig> {
  const server = await startTestServer(environment, options)
  const { github, context } = server
  const directory = mkdtempSync(join(tmpdir(), "galley-outage-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const shas = makeRepository(directory, 4)
  const repository = { owner: "acme", name: "shop", gitDirectory: directory, installationId: 7001 }
  const { id } = await github.registerRepository(repository)
  await server.deliver("installation", {
    action: "created",
    installation: { id: 7001, account: { login: "acme", id: 1 } },
    repositories: [{ id, name: "shop", full_name: REPO, private: true }],
  })
  await context.store.sql`update projects set settings = '{"active": true, "debounceSeconds": 0}'`
  // Nobody listens here.
  github.setWebhook({ url: "http://127.0.0.1:9/webhooks/github", secret: WEBHOOK_SECRET })
  return {
    server,
    directory,
    shas,
    async openPullRequest({ headSha = shas[1] ?? "", ...options } = {}) {
      await github.openPullRequest({ repo: REPO, baseSha: shas[0] ?? "", headRef: `change-${options.number ?? 1}`, headSha, ...options })
    },
    jobs: async () => [
      ...(await context.store.sql<{ state: string; code: string | null; cause: string; headSha: string; number: number }[]>`
        select j.state, j.code, j.cause, j.head_sha as "headSha", q.number from review_jobs j join pull_requests q on q.id = j.pull_request_id
        order by j.created_at, j.id`),
    ],
  }
}
