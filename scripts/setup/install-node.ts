import { join } from "node:path"
import { installProgram } from "./install-opencode.ts"
import type { InstallStep } from "./install-step.ts"

/**
 * Copies the Node that runs this set-up to `<prefix>/node/node`: a runner that dropped root cannot start one that stands in a
 * private checkout.
 */
export function nodeStep(prefix: string): InstallStep {
  const target = join(prefix, "node", "node")
  return { name: "node", inputs: [process.version], target, install: () => installProgram(process.execPath, target) }
}
