import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { GalleyError } from "../../packages/contract/src/errors.ts"
import { runCommand } from "./run-command.ts"

export type NpmPackage = Readonly<{
  name: string
  version: string
  /** base64 SHA-512 of the tarball. */
  sha512: string
}>

/**
 * Fetches a package with the npm client and its configured registry, verifies it and hands its unpacked folder to `use`.
 * No script of the package runs. Throws `engine_integrity` when the tarball is another one.
 */
export async function withNpmPackage(wanted: NpmPackage, use: (folder: string) => Promise<void>): Promise<void> {
  const workspace = await mkdtemp(join(tmpdir(), "galley-setup-"))
  try {
    await runCommand("npm", ["pack", `${wanted.name}@${wanted.version}`, "--ignore-scripts", "--loglevel=error"], { cwd: workspace })
    const tarball = join(workspace, (await readdir(workspace)).find((name) => name.endsWith(".tgz")) ?? "missing.tgz")
    await verifyDigest(tarball, "sha512", "base64", wanted.sha512)
    await runCommand("tar", ["-xzf", tarball, "--no-same-owner", "-C", workspace])
    await use(join(workspace, "package"))
  } finally {
    await rm(workspace, { recursive: true, force: true })
  }
}

/** Throws `engine_integrity` when the file's digest is not `expected`. */
export async function verifyDigest(file: string, algorithm: string, encoding: "hex" | "base64", expected: string): Promise<void> {
  const hash = createHash(algorithm)
  await pipeline(createReadStream(file), hash)
  const found = hash.digest(encoding)
  if (found !== expected) throw new GalleyError("engine_integrity", `${algorithm} of ${file} is ${found}, expected ${expected}`)
}
