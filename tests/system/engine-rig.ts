import { randomBytes } from "node:crypto"
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FindingState } from "@galley/contract/finding"
import { defaultJobLimits, type JobLimits } from "@galley/contract/limits"
import type { Lease, RunPhase } from "@galley/contract/protocol"
import type { ReviewKind } from "@galley/contract/settings"
import { noUsage } from "@galley/contract/usage"
import type { EngineJob } from "@galley/engine/engine"
import { type FakeModel, startFakeModel } from "@galley/fake-model"
import { checkOut } from "@galley/runner/check-out"
import { engineJob } from "@galley/runner/engine-job"
import { openGateway } from "@galley/runner/open-gateway"
import { loadEgressRules, removeEgressRules } from "@galley/sandbox/egress-rules"
import { type JobDirectory, makeJobDirectory, removeJobDirectory } from "@galley/sandbox/job-directory"
import { makeSlots, type Slot } from "@galley/sandbox/slot"
import { exampleCredentials, exampleLease } from "../../apps/runner/src/testing/example-lease.ts"
import { type GitServer, startGitServer } from "../../packages/checkout/src/testing/git-server.ts"
import { createTestRepository, type Files } from "../../packages/checkout/src/testing/repository.ts"
import { enginePrefixPath } from "../../scripts/setup/setup.ts"

export const UPSTREAM_KEY = "upstream-key-5f0c6d1e9a"
export const GITHUB_TOKEN = "ghs_installationtoken4b7a1c"

const base: Files = { "README.md": "# Sample\n", "src/queue.ts": "export const size = 1\n" }
/** One text file changed in two lines, one added, a lock file and a binary that PR-Agent will not show. */
const head: Files = {
  ...base,
  "src/queue.ts": "export const size = 1\nexport function takeLock() {\n  return size\n}\n",
  "src/retry.ts": "export function retryForever(action: () => void) {\n  while (true) action()\n}\n",
  "yarn.lock": "# yarn lockfile v1\n",
  "logo.bin": Buffer.from([0x89, 0x50, 0, 1, 2, 3]),
}

export type JobOptions = Readonly<{
  kind: ReviewKind
  boundary?: EngineJob["boundary"]
  files?: Files
  prior?: FindingState
  /** Left out: the shipped skill. */
  skill?: string
  limits?: Partial<JobLimits>
}>

export type PreparedJob = EngineJob & Readonly<{ directory: JobDirectory; phases: readonly RunPhase[]; close(): Promise<void> }>

/** A slot with its egress rules, a repository behind real git over HTTP, a scripted model, and jobs as a runner would hand them to an engine. */
export type EngineRig = Readonly<{
  slot: Slot
  model: FakeModel
  prefix: EngineJob["prefix"]
  /** Outlives jobs and can be written by everybody. */
  openDirectory: string
  prepareJob(options: JobOptions): Promise<PreparedJob>
  close(): Promise<void>
}>

/** Throws when it cannot give engines a user of their own. */
export async function startEngineRig(): Promise<EngineRig> {
  if (process.getuid?.() !== 0) throw new Error("these tests start engines under users of their own: run them as root")
  // below the range that the kernel takes for outgoing connections, where a port could be busy at any time
  const [slot] = makeSlots(1, { uid: 64_960, gatewayPort: 23_100, controlPort: 24_100 })
  if (slot === undefined) throw new Error("there is no slot")
  const root = await mkdtemp(join(tmpdir(), "engine-rig-"))
  await chmod(root, 0o711)
  const repositories = join(root, "repositories")
  await mkdir(repositories, { mode: 0o700 })
  const openDirectory = join(root, "open")
  await mkdir(openDirectory)
  await chmod(openDirectory, 0o777)
  await loadEgressRules([slot])
  const git = await startGitServer(repositories)
  const model = await startFakeModel({ apiKey: UPSTREAM_KEY })
  const prefix = { path: enginePrefixPath() }
  return {
    slot,
    model,
    prefix,
    openDirectory,
    prepareJob: (options) => prepareJob({ root, repositories, git, model, slot, prefix }, options),
    async close() {
      await git.close()
      await model.close()
      await removeEgressRules([slot])
      await rm(root, { recursive: true })
    },
  }
}

type Parts = Readonly<{ root: string; repositories: string; git: GitServer; model: FakeModel; slot: Slot; prefix: EngineJob["prefix"] }>

async function prepareJob({ root, repositories, git, model, slot, prefix }: Parts, options: JobOptions): Promise<PreparedJob> {
  const { boundary = "enforced" } = options
  const id = `job-${randomBytes(6).toString("hex")}`
  const repository = createTestRepository(repositories, `${id}.git`)
  const baseSha = repository.commit(base)
  const headSha = repository.commit({ ...head, ...options.files }, [baseSha], { minute: 1, message: "Add retries" })
  repository.publish(baseSha, headSha)
  const lease = leaseOf(options, { headSha, baseSha, gitUrl: git.url(repository.name) })
  const access = { baseUrl: model.url, apiKey: UPSTREAM_KEY, contextTokens: 128_000, outputTokens: 8_192 }
  const credentials = { githubToken: GITHUB_TOKEN, model: { ...exampleCredentials.model, ...access } }
  const directory = await makeJobDirectory(root, id, slot, boundary)
  const checkout = await checkOut(lease, credentials, directory, AbortSignal.timeout(30_000))
  const token = randomBytes(32).toString("hex")
  const place = { config: { boundary, prefix: prefix.path }, slot }
  const job = { lease, credentials, checkout, directory, token, progress: { phase: "preparing" as const, usage: noUsage } }
  const gateway = await openGateway(place, job)
  const phases: RunPhase[] = []
  return {
    ...engineJob(place, job, gateway),
    onPhase: (phase) => phases.push(phase),
    directory,
    phases,
    async close() {
      await gateway.close()
      await removeJobDirectory(directory, slot, boundary)
    },
  }
}

function leaseOf(options: JobOptions, { headSha, baseSha, gitUrl }: { headSha: string; baseSha: string; gitUrl: string }): Lease {
  const example = exampleLease()
  return {
    ...example,
    job: { ...example.job, kind: options.kind, headSha, baseSha, pullRequest: { ...example.job.pullRequest, number: 1, gitUrl } },
    settings: { ...example.settings, skill: options.skill ?? null },
    limits: { ...defaultJobLimits, ...options.limits },
    prior: { state: options.prior ?? null, tampered: false },
  }
}
