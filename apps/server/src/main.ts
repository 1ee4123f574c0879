import { once } from "node:events"
import { setTimeout as delay } from "node:timers/promises"
import { errorCode, GalleyError } from "@galley/contract/errors"
import { migrate } from "@galley/store/migrate"
import { serve } from "@hono/node-server"
import { type Logger, pino } from "pino"
import { manageRunners } from "./command/manage-runners.ts"
import { readServerConfig, type ServerConfig } from "./config.ts"
import { openServer } from "./start/open-server.ts"

/** Requests under way at SIGTERM get so long. */
const DRAIN_MS = 3_000
/** A call to GitHub may hang: its task is taken up again elsewhere, and the process ends in time. */
const STOP_MS = 8_000

/** Serves until `stopping`; everything it opened is closed when it returns. */
async function run(config: ServerConfig, stopping: AbortSignal, log: Logger): Promise<void> {
  const open = await openServer(config, log)
  try {
    const server = serve({ fetch: open.app.fetch, hostname: config.listen.host, port: config.listen.port })
    await once(server, "listening")
    log.info({ address: config.publicUrl, ...config.listen }, "server ready")
    if (!stopping.aborted) await once(stopping, "abort")
    log.info("server stopping")
    const stopLate = () => {
      log.fatal("the server did not stop in time")
      process.exit(1)
    }
    setTimeout(stopLate, STOP_MS).unref()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await open.stopWaiting()
    await Promise.race([closed, delay(DRAIN_MS, undefined, { ref: false })])
    if ("closeAllConnections" in server) server.closeAllConnections()
  } finally {
    await open.close()
  }
}

async function upgrade(config: ServerConfig, log: Logger): Promise<void> {
  const applied = await migrate(
    config.databaseUrl,
    config.migrationsDirectory === undefined ? {} : { directory: config.migrationsDirectory },
  )
  log.info({ applied }, "the schema is up to date")
}

async function main(): Promise<number> {
  const config = readServerConfig(process.env)
  const [command = "run", ...args] = process.argv.slice(2)
  // What the fleet's command prints may be read by a program: the log stays out of it.
  const log = pino({ level: config.logLevel, base: { process: "server" } }, pino.destination(command === "runner" ? 2 : 1))
  const stopping = new AbortController()
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stopping.abort())
  try {
    if (command === "runner") return await manageRunners(config, args)
    if (command === "migrate") await upgrade(config, log)
    else if (command === "run") await run(config, stopping.signal, log)
    else throw new GalleyError("config_invalid", `there is no command ${command}; use run (the default), migrate or runner`)
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
