import { connectGitHubApp } from "@galley/github/github-app"
import { openStore } from "@galley/store/database"
import { assertSchema, readSchemaCheck } from "@galley/store/migrate"
import { queueTask, taskQueues } from "@galley/store/tasks"
import type { Hono } from "hono"
import type { Logger } from "pino"
import type { ServerConfig } from "../config.ts"
import type { ServerContext } from "../context.ts"
import { createApp } from "../http/app.ts"
import { openLiveRuns } from "../pages/live/live-runs.ts"
import { openLeaseDesk } from "../runner-api/lease-desk.ts"
import { workSchedules } from "../tasks/work-schedules.ts"
import { type TaskWork, workTasks } from "../tasks/work-tasks.ts"
import { bootstrap } from "./bootstrap.ts"
import { assertKeysKnown, keyRingOf } from "./key-ring.ts"

/** A server that works but does not listen yet. */
export type OpenServer = Readonly<{
  app: Hono
  context: ServerContext
  /** Answers waiting runners and ends live pages, so that no request holds the listener open. */
  stopWaiting(): Promise<void>
  /** Ends tasks and connections. */
  close(): Promise<void>
}>

const GITHUB_TIMEOUT_MS = 15_000

/**
 * Opens everything a server works with, from nothing but its configuration.
 *
 * @throws `schema_too_old` for a database that has to be migrated first, `config_invalid` when another master key sealed it, and the codes of `githubFault` when the App cannot be read
 */
export async function openServer(config: ServerConfig, log: Logger): Promise<OpenServer> {
  const migrations = config.migrationsDirectory === undefined ? {} : { directory: config.migrationsDirectory }
  await assertSchema(config.databaseUrl, migrations)
  const checkSchema = await readSchemaCheck(migrations)
  let work: TaskWork | null = null
  const store = await openStore({
    url: config.databaseUrl,
    keyRing: keyRingOf(config.masterKeys),
    applicationName: "galley-server",
    onError: (error) => log.error({ err: error }, "background database work failed"),
    onTask: (queue) => work?.wake(queue),
  })
  try {
    await assertKeysKnown(store)
    const github = connectGitHubApp({ ...config.github, userAgent: "galley", timeoutMs: GITHUB_TIMEOUT_MS })
    const made = await bootstrap(store, config, github)
    const context: ServerContext = { config, store, github, log, ...made }
    const desk = await openLeaseDesk(context)
    const tasks = await workTasks(context)
    work = tasks
    const schedules = config.scheduledWork ? await workSchedules(context) : null
    // What was installed before the server ran. A task, so that one installation that cannot be read does not stop the start.
    await queueTask(store, taskQueues.syncInstallation, {})
    const liveRuns = await openLiveRuns(context)
    const stopWaiting = async () => {
      await Promise.all([desk.close(), liveRuns.close()])
    }
    return {
      app: createApp({ context, desk, liveRuns, checkReady: () => checkSchema(store.sql) }),
      context,
      stopWaiting,
      async close() {
        await stopWaiting()
        schedules?.stop()
        tasks.stop()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}
