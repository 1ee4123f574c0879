import { stat } from "node:fs/promises"
import { errorCode, GalleyError } from "@galley/contract/errors"
import { makeSlots } from "@galley/sandbox/slot"
import { superviseRunner } from "@galley/sandbox/supervise-runner"
import { type Logger, pino } from "pino"
import { environmentOfRunner, type RunnerConfig, readRunnerConfig } from "./config.ts"
import { runRunner } from "./run-runner.ts"

const MIB = 1024 * 1024
/** Room of one job on the jobs' tmpfs: download, export, scratch. */
const BYTES_PER_SLOT = 640 * MIB
/** The supervisor waits so much longer than the runner's own drain time. */
const STOP_MARGIN_MS = 20_000

/** As root this process makes the boundary and runs itself again without root's rights; otherwise it is the runner. */
async function main(): Promise<number> {
  const config = readRunnerConfig(process.env)
  const log = pino({ level: config.logLevel, base: { process: "runner" } })
  const stopping = new AbortController()
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stopping.abort())
  try {
    if (config.boundary === "enforced" && process.getuid?.() === 0) return await supervise(config, stopping.signal, log)
    if (config.boundary === "demo")
      log.warn("demo mode: engines run without a boundary; only a GitHub and a model on this machine are accepted")
    await stat(config.jobsDirectory).catch((cause: unknown) => {
      throw new GalleyError(
        "boundary_unavailable",
        `${config.jobsDirectory} is missing; start the runner as root, or make it for the demo mode`,
        { cause },
      )
    })
    await runRunner(config, stopping.signal, log)
    return 0
  } catch (error) {
    if (stopping.signal.aborted && error === stopping.signal.reason) return 0
    log.fatal({ code: errorCode(error), err: error }, "the runner cannot go on")
    return 1
  }
}

function supervise(config: RunnerConfig, signal: AbortSignal, log: Logger): Promise<number> {
  const [script, ...args] = process.argv.slice(1)
  if (script === undefined) throw new GalleyError("config_invalid", "the runner must be started from a file")
  return superviseRunner({
    slots: makeSlots(config.slots, config.slotBase),
    argv: [process.execPath, ...process.execArgv, script, ...args],
    env: environmentOfRunner(process.env),
    runnerUid: config.runnerUid,
    jobRoot: { path: config.jobsDirectory, sizeBytes: config.slots * BYTES_PER_SLOT },
    signal,
    graceMs: config.drainMs + STOP_MARGIN_MS,
    onJobRoot: (root) => {
      if (root.warning !== null) log.warn({ jobsDirectory: root.path }, root.warning)
    },
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  // Before there is a log: the configuration itself is wrong.
  process.stderr.write(`${error instanceof GalleyError ? error.message : String(error)}\n`)
  process.exitCode = 2
}
