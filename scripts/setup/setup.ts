import { chmod, mkdir } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { installChromium } from "./install-chromium.ts"
import { nodeStep } from "./install-node.ts"
import { opencodeStep } from "./install-opencode.ts"
import { prAgentStep, prewarmStep } from "./install-pr-agent.ts"
import { ripgrepStep } from "./install-ripgrep.ts"
import { type Log, runStep } from "./install-step.ts"
import { installSystemPackages } from "./install-system-packages.ts"
import { withSetupLock } from "./setup-lock.ts"

/** Where engines are installed: `GALLEY_PREFIX`, else `/opt/galley` as root and `.galley/prefix` of the checkout as another user. */
export function enginePrefixPath(environment: NodeJS.ProcessEnv = process.env): string {
  if (environment.GALLEY_PREFIX) return environment.GALLEY_PREFIX
  return process.getuid?.() === 0 ? "/opt/galley" : fileURLToPath(new URL("../../.galley/prefix", import.meta.url))
}

/**
 * Installs everything a runner on this machine needs, each part pinned and verified. Safe to repeat: parts that are up to date
 * are left alone. Files belong to the caller, are readable by all and writable by nobody else.
 *
 * @returns the prefix the engines stand in
 */
export async function runSetup(log: Log): Promise<string> {
  process.umask(0o022)
  const prefix = enginePrefixPath()
  const root = process.getuid?.() === 0
  const platform = `${process.platform}-${process.arch}`
  await mkdir(prefix, { recursive: true })
  await chmod(prefix, 0o755)
  await withSetupLock(prefix, log, async () => {
    await installSystemPackages(root, log)
    if (root) await runStep(prefix, nodeStep(prefix), log)
    await runStep(prefix, await opencodeStep(prefix, platform), log)
    await runStep(prefix, ripgrepStep(prefix, platform, log), log)
    await runStep(prefix, await prAgentStep(prefix, log), log)
    await runStep(prefix, await prewarmStep(prefix), log)
  })
  return prefix
}

if (import.meta.main) {
  try {
    const log = (line: string) => console.log(`setup: ${line}`)
    const prefix = await runSetup(log)
    if (process.argv.includes("--browser")) await installChromium(log)
    console.log(`setup: engines stand in ${prefix}`)
  } catch (error) {
    console.error(`setup failed: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}
