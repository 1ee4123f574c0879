import { findOnPath } from "./find-on-path.ts"
import type { Log } from "./install-step.ts"
import { runCommand } from "./run-command.ts"

/** Path of a Chromium or Chrome on PATH, or null. */
export function findChromium(path?: string): string | null {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const found = findOnPath(name, path)
    if (found !== null) return found
  }
  return null
}

/**
 * Makes sure that there is a browser for the browser tests: one on PATH, else Debian's or Ubuntu's package where this process may install
 * it. Throws one clear sentence when neither is possible.
 *
 * @returns path of the executable
 */
export async function installChromium(log: Log): Promise<string> {
  const present = findChromium()
  if (present !== null) {
    log(`chromium: ${present}`)
    return present
  }
  if (process.getuid?.() !== 0 || findOnPath("apt-get") === null)
    throw new Error("there is no Chromium on PATH; install the package chromium and run again")
  log("chromium: installing")
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  await runCommand("apt-get", ["update", "-qq"], { env })
  await runCommand("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], { env })
  const installed = findChromium()
  if (installed === null) throw new Error("the package chromium was installed, but there is no Chromium on PATH")
  return installed
}
