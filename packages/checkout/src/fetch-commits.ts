import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { Sha } from "@galley/contract/sha"
import { classifyFetchFailure } from "./classify-fetch-failure.ts"
import { directoryBytes } from "./directory-bytes.ts"
import { type Git, runGit } from "./git.ts"
import { fetchEnvironment } from "./git-environment.ts"

const QUOTA_POLL_MS = 100
/** One fetch, in milliseconds. A stalled connection is given up sooner, by git's own low-speed rule. */
const FETCH_TIMEOUT_MS = 180_000

/** Where a job's repositories lie and come from. */
export type Origin = Readonly<{ gitUrl: string; token: string | null; gitRoot: string; limits: JobLimits }>

/** A bare repository below `gitRoot`, and the configuration it has between two fetches. */
export type Repository = Readonly<{ directory: string; configuration: string }>

export type FetchDepth = Readonly<{ depth: number; filter: string }>

/** Makes an empty bare repository: no hooks, no attributes, no branch. The length of `sha` tells its object format. */
export async function createRepository(directory: string, sha: Sha): Promise<Repository> {
  const [version, extensions] = sha.length === 64 ? [1, "[extensions]\n\tobjectFormat = sha256\n"] : [0, ""]
  const configuration = `[core]\n\trepositoryFormatVersion = ${version}\n\tbare = true\n${extensions}`
  await mkdir(directory, { mode: 0o700 })
  await Promise.all([mkdir(join(directory, "objects")), mkdir(join(directory, "refs"))])
  await writeFile(join(directory, "config"), configuration)
  await writeFile(join(directory, "HEAD"), "ref: refs/heads/none\n")
  return { directory, configuration }
}

/**
 * Fetches exact commits by id and leaves no promisor remote behind: what the filter left out is missing for good, and is
 * never fetched by a later command. A head that was pushed away meanwhile is still fetched where the server has it.
 *
 * Throws `checkout_quota_exceeded`, `checkout_ref_unavailable`, `github_unauthorized`, `checkout_fetch_failed` (worth a
 * retry) or `checkout_objects_refused`.
 */
export async function fetchCommits(
  git: Git,
  repository: Repository,
  origin: Origin,
  shas: readonly Sha[],
  { depth, filter }: FetchDepth,
  signal: AbortSignal,
): Promise<void> {
  const args = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance"]
  const command = {
    repository: repository.directory,
    args: [...args, `--depth=${depth}`, `--filter=${filter}`, origin.gitUrl, ...shas],
    environment: fetchEnvironment(origin.gitUrl, origin.token),
  }
  const { code, stderr } = await withinQuota(origin, signal, (bounded) => runGit(git, command, bounded))
  if (overQuota(origin)) throw quotaExceeded(origin.limits)
  if (code !== 0) {
    throw new GalleyError(classifyFetchFailure(stderr), "the fetch from the base repository failed", {
      cause: new Error(stderr),
      details: { status: code ?? -1 },
    })
  }
  await writeFile(join(repository.directory, "config"), repository.configuration)
}

/** Runs `work` under a signal that also ends when the disk quota or the time of one fetch is used up. */
async function withinQuota<T>(origin: Origin, signal: AbortSignal, work: (bounded: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const poll = setInterval(() => overQuota(origin) && stop.abort(quotaExceeded(origin.limits)), QUOTA_POLL_MS)
  const late = (): void => stop.abort(new GalleyError("checkout_fetch_failed", "the fetch took too long"))
  const deadline = setTimeout(late, FETCH_TIMEOUT_MS)
  try {
    return await work(AbortSignal.any([signal, stop.signal]))
  } finally {
    clearInterval(poll)
    clearTimeout(deadline)
  }
}

/** The operating system cuts a file exactly at the quota, so reaching it already counts. */
function overQuota(origin: Origin): boolean {
  return directoryBytes(origin.gitRoot) >= origin.limits.maxCheckoutBytes
}

export function quotaExceeded(limits: JobLimits): GalleyError {
  const details = { maxCheckoutBytes: limits.maxCheckoutBytes }
  return new GalleyError("checkout_quota_exceeded", "the checkout needs more than its disk quota", { details })
}
