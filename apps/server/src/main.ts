import { once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import { errorCode, GalleyError } from "@galley/contract/errors"
import { connectGitHubApp } from "@galley/github/github-app"
import { openStore } from "@galley/store/database"
import { assertSchema, migrate } from "@galley/store/migrate"
import { serve } from "@hono/node-server"
import { type Logger, pino } from "pino"
import { readServerConfig, type ServerConfig } from "./config.ts"
import type { ServerContext } from "./context.ts"
import { createApp } from "./http/app.ts"
import { openLeaseDesk } from "./runner-api/lease-desk.ts"
import { bootstrap } from "./start/bootstrap.ts"
import { keyRingOf } from "./start/key-ring.ts"
import { syncInstallations } from "./tasks/sync-installations.ts"
import { workTasks } from "./tasks/work-tasks.ts"

const GITHUB_TIMEOUT_MS = 15_000
/** Requests under way at SIGTERM get so long. */
const DRAIN_MS = 8_000

/** Runs the server until `stopping`; everything it opened is closed when it returns. */
async function runServer(config: ServerConfig, stopping: AbortSignal, log: Logger): Promise<void> {
  const { migrationsDirectory } = config
  await assertSchema(config.databaseUrl, migrationsDirectory === undefined ? {} : { directory: migrationsDirectory })
  const store = await openStore({
    url: config.databaseUrl,
    keyRing: keyRingOf(config.masterKeys),
    applicationName: "galley-server",
    onError: (error) => log.error({ err: error }, "background database work failed"),
  })
  try {
    const github = connectGitHubApp({ ...config.github, userAgent: "galley", timeoutMs: GITHUB_TIMEOUT_MS })
    const made = await bootstrap(store, config, github)
    const context: ServerContext = {
      config,
      store,
      github,
      hostId: made.hostId,
      workspaceId: made.workspaceId,
      demoUserId: made.demoUserId,
      log,
    }
    await syncInstallations(context)
    const desk = await openLeaseDesk(context)
    const tasks = await workTasks(context)
    const app = createApp({ context, desk, tasks, migrationsDirectory })
    const server = serve({ fetch: app.fetch, hostname: config.listen.host, port: config.listen.port })
    await once(server, "listening")
    log.info({ address: config.publicUrl, ...config.listen }, "server ready")
    if (!stopping.aborted) await once(stopping, "abort")
    log.info("server stopping")
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await desk.close()
    await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })])
    await tasks.stop()
  } finally {
    await store.close()
  }
}

async function main(): Promise<number> {
  const config = readServerConfig(process.env)
  const log = pino({ level: config.logLevel, base: { process: "server" } })
  const stopping = new AbortController()
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stopping.abort())
  const command = process.argv[2] ?? "run"
  try {
    if (command === "migrate") {
      const applied = await migrate(
        config.databaseUrl,
        config.migrationsDirectory === undefined ? {} : { directory: config.migrationsDirectory },
      )
      log.info({ applied }, "the schema is up to date")
    } else if (command === "run") await runServer(config, stopping.signal, log)
    else throw new GalleyError("config_invalid", `there is no command ${command}; use run (the default) or migrate`)
    return 0
  } catch (error) {
    log.fatal({ code: errorCode(error), err: error }, "the server cannot go on")
    return 1
  }
}

try {
  process.exitCode = await main()
} catch (error) {
  // Before there is a log: the configuration itself is wrong.
  process.stderr.write(`${error instanceof GalleyError ? error.message : String(error)}\n`)
  process.exitCode = 2
}
