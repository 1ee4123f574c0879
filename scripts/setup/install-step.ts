import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

export type Log = (line: string) => void

export type InstallStep = Readonly<{
  /** Names the stamp file and the progress line. */
  name: string
  /** Everything the result depends on; a change of any of them installs again. */
  inputs: readonly string[]
  /** Path the step makes; when it is gone the step runs again. */
  target: string
  install: () => Promise<void>
}>

/**
 * Runs a step unless its stamp below `<prefix>/stamps` holds the hash of the same inputs.
 * The stamp goes first and comes back last, so that a step cut short counts as not done.
 */
export async function runStep(prefix: string, step: InstallStep, log: Log): Promise<void> {
  const stamp = join(prefix, "stamps", step.name)
  const digest = createHash("sha256").update(JSON.stringify(step.inputs)).digest("hex")
  if (existsSync(step.target) && existsSync(stamp) && (await readFile(stamp, "utf8")) === digest) {
    log(`${step.name}: up to date`)
    return
  }
  log(`${step.name}: installing`)
  const startedAt = performance.now()
  await mkdir(dirname(stamp), { recursive: true })
  await rm(stamp, { force: true })
  await step.install()
  await writeFile(stamp, digest)
  log(`${step.name}: installed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
