import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { FakeGitHub } from "@galley/fake-github"
import type { Sql } from "postgres"
import { type Server, startServer } from "./start-server.ts"

const repository = new URL("../..", import.meta.url).pathname

export const APP_ID = 4242

/** The product's own server as an ordinary process, with nothing but its environment. */
export function startGalleyServer(options: {
  databaseUrl: string
  github: FakeGitHub
  webhookSecret: string
  runnerToken: string
  logFile: string
}): Promise<Server> {
  const { github } = options
  const argv = ["--import", join(repository, "scripts/tsx-hook.ts"), join(repository, "apps/server/src/main.ts")]
  const environment = (port: number) => ({
    NODE_ENV: "production",
    DATABASE_URL: options.databaseUrl,
    GALLEY_PUBLIC_URL: `http://127.0.0.1:${port}`,
    GALLEY_LISTEN_PORT: String(port),
    GALLEY_MASTER_KEY: randomBytes(32).toString("base64"),
    GALLEY_MAX_RUNNING_JOBS: "1000",
    GALLEY_RUNNER_TOKEN: options.runnerToken,
    GITHUB_URL: github.url,
    GITHUB_API_URL: github.apiUrl,
    GITHUB_APP_ID: String(APP_ID),
    GITHUB_PRIVATE_KEY: github.privateKeyPem ?? "",
    GITHUB_WEBHOOK_SECRET: options.webhookSecret,
    MODEL_BASE_URL: "http://127.0.0.1:9/v1",
    MODEL_API_KEY: "no model is called",
    MODEL: "none",
  })
  return startServer(argv, environment, options.logFile)
}

/** Waits until the server knows the one repository of the fake GitHub, and activates its project with default settings. */
export async function activateProject(sql: Sql): Promise<{ id: string; workspaceId: string }> {
  for (;;) {
    const [project] = await sql<[{ id: string; workspaceId: string }?]>`
      update projects set settings = '{"active": true}' returning id, workspace_id as "workspaceId"`
    if (project !== undefined) return project
    await delay(50)
  }
}
