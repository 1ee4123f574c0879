import { chmod, copyFile, mkdir, readFile, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { z } from "zod"
import { GalleyError } from "../../packages/contract/src/errors.ts"
import type { InstallStep } from "./install-step.ts"
import { verifyDigest, withNpmPackage } from "./npm-package.ts"

/** The one place of the OpenCode pin; moving it means editing that file. */
const manifestUrl = new URL("../../packages/engine/src/dynamic/opencode.json", import.meta.url)

const Manifest = z.strictObject({
  version: z.string(),
  platforms: z.record(z.string(), z.strictObject({ package: z.string(), sha512: z.string(), sha256: z.string() })),
})

/** Installs the stock binary as `<prefix>/opencode/<version>/opencode`. Throws `engine_missing` for a platform without a pin. */
export async function opencodeStep(prefix: string, platform: string): Promise<InstallStep> {
  const manifest = Manifest.parse(JSON.parse(await readFile(manifestUrl, "utf8")))
  const pin = manifest.platforms[platform]
  if (!pin) {
    const known = Object.keys(manifest.platforms).join(", ")
    throw new GalleyError("engine_missing", `OpenCode ${manifest.version} is pinned for ${known} only, this machine is ${platform}`)
  }
  const target = join(prefix, "opencode", manifest.version, "opencode")
  return {
    name: `opencode-${manifest.version}`,
    inputs: [pin.package, pin.sha512, pin.sha256],
    target,
    install: () =>
      withNpmPackage({ name: pin.package, version: manifest.version, sha512: pin.sha512 }, async (folder) => {
        await verifyDigest(join(folder, "bin", "opencode"), "sha256", "hex", pin.sha256)
        await installProgram(join(folder, "bin", "opencode"), target)
      }),
  }
}

/** Copies a program beside its place, read-only and executable, then moves it there in one step. */
export async function installProgram(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  const staged = `${dirname(target)}.staged`
  await rm(staged, { force: true })
  await copyFile(source, staged)
  await chmod(staged, 0o555)
  await rename(staged, target)
}
