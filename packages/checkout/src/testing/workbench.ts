import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defaultJobLimits, type JobLimits } from "@galley/contract/limits"
import type { Checkout, CheckoutRequest } from "../checkout.ts"
import { prepareCheckout } from "../prepare-checkout.ts"
import { removeCheckout } from "../remove-checkout.ts"
import { type GitServer, startGitServer } from "./git-server.ts"
import { createTestRepository, type TestRepository } from "./repository.ts"

export type Options = Partial<Omit<CheckoutRequest, "limits">> & Readonly<{ limits?: Partial<JobLimits> }>

/** A folder of repositories, a server for them and job directories: everything a checkout test needs. */
export type Workbench = Readonly<{
  root: string
  server: GitServer
  repository(name: string, objectFormat?: "sha256"): TestRepository
  /** A request for `repository` with a fresh job directory. */
  request(repository: string, baseSha: string, headSha: string, options?: Options): CheckoutRequest
  prepare(repository: string, baseSha: string, headSha: string, options?: Options): Promise<Checkout>
  close(): Promise<void>
}>

export async function openWorkbench(): Promise<Workbench> {
  const root = mkdtempSync(join(tmpdir(), "galley-checkout-"))
  const repositories = join(root, "repositories")
  mkdirSync(repositories)
  const server = await startGitServer(repositories)
  const request: Workbench["request"] = (repository, baseSha, headSha, options = {}) => ({
    gitUrl: server.url(repository),
    token: null,
    pullNumber: 1,
    headSha,
    baseSha,
    previousHeadSha: null,
    jobDirectory: mkdtempSync(join(root, "job-")),
    ...options,
    limits: { ...defaultJobLimits, ...options.limits },
  })
  return {
    root: repositories,
    server,
    request,
    repository: (name, objectFormat) => createTestRepository(repositories, name, objectFormat),
    prepare: (...args) => prepareCheckout(request(...args), AbortSignal.timeout(60_000)),
    async close() {
      await server.close()
      await removeCheckout(root)
    },
  }
}

/** Every file below a directory with its text, links and folders left out. */
export function filesBelow(directory: string): ReadonlyMap<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(directory.length + 1), readFileSync(path, "latin1")]
    }),
  )
}
