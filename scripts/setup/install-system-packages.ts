import { findOnPath } from "./find-on-path.ts"
import type { Log } from "./install-step.ts"
import { runCommand } from "./run-command.ts"

/** Debian package of every system command the product starts. */
const always = { bash: "bash", git: "git", tar: "tar", prlimit: "util-linux" }
const asRoot = { nft: "nftables", setpriv: "util-linux" }

/** As root installs what is missing with apt-get; else, or where there is no apt-get, says in one line what to install. */
export async function installSystemPackages(root: boolean, log: Log): Promise<void> {
  const wanted = Object.entries(root ? { ...always, ...asRoot } : always)
  const missing = wanted.filter(([command]) => !findOnPath(command))
  if (missing.length === 0) return
  const packages = [...new Set(missing.map(([, name]) => name))]
  if (!root || !findOnPath("apt-get"))
    throw new Error(
      `missing commands: ${missing.map(([command]) => command).join(", ")}; install the packages ${packages.join(" ")} and run again`,
    )
  log(`system packages: installing ${packages.join(" ")}`)
  const install = ["install", "-y", "-qq", "--no-install-recommends", ...packages]
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  await runCommand("apt-get", install, { env }).catch(async () => {
    await runCommand("apt-get", ["update", "-qq"], { env })
    await runCommand("apt-get", install, { env })
  })
}
