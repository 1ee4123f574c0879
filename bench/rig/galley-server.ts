import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { FakeGitHub } from "@galley/fake-github"
import type { Sql } from "postgres"
import { noModel, serverEnvironment } from "../../scripts/demo/server-environment.ts"
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
  const argv = ["--import", join(repository, "scripts/tsx-hook.ts"), join(repository, "apps/server/src/main.ts")]
  const environment = (port: number) => ({
    NODE_ENV: "production",
    GALLEY_MAX_RUNNING_JOBS: "1000",
    ...serverEnvironment({ ...options, port, model: noModel, masterKey: randomBytes(32).toString("base64") }),
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
