import { randomBytes } from "node:crypto"
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { prepareCheckout } from "@galley/checkout/prepare-checkout"
import type { FindingState } from "@galley/contract/finding"
import { defaultJobLimits, type JobLimits } from "@galley/contract/limits"
import type { Lease, RunPhase } from "@galley/contract/protocol"
import type { ReviewKind } from "@galley/contract/settings"
import { noUsage } from "@galley/contract/usage"
import type { EngineJob } from "@galley/engine/engine"
import { type FakeModel, startFakeModel } from "@galley/fake-model"
import { virtualComment } from "@galley/findings/virtual-state"
import { startGateway } from "@galley/gateway/start-gateway"
import { loadEgressRules, removeEgressRules } from "@galley/sandbox/egress-rules"
import { type JobDirectory, makeJobDirectory, removeJobDirectory } from "@galley/sandbox/job-directory"
import { makeSlots, type Slot } from "@galley/sandbox/slot"
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
  const { kind, boundary = "enforced", prior = null } = options
  const id = `job-${randomBytes(6).toString("hex")}`
  const repository = createTestRepository(repositories, `${id}.git`)
  const baseSha = repository.commit(base)
  const headSha = repository.commit({ ...head, ...options.files }, [baseSha], { minute: 1, message: "Add retries" })
  repository.publish(baseSha, headSha)
  const limits = { ...defaultJobLimits, ...options.limits }
  const directory = await makeJobDirectory(root, id, slot, boundary)
  const checkout = await prepareCheckout(
    {
      gitUrl: git.url(repository.name),
      token: GITHUB_TOKEN,
      pullNumber: 1,
      headSha,
      baseSha,
      previousHeadSha: null,
      jobDirectory: directory.path,
      limits,
    },
    AbortSignal.timeout(30_000),
  )
  const token = randomBytes(32).toString("hex")
  const lease = leaseOf({ kind, headSha, baseSha, gitUrl: git.url(repository.name), state: prior, skill: options.skill ?? null })
  const access = {
    baseUrl: model.url,
    apiKey: UPSTREAM_KEY,
    upstreamModel: "upstream-model",
    contextTokens: 128_000,
    outputTokens: 8_192,
    price: null,
  }
  const gateway = await startGateway({
    port: boundary === "enforced" ? slot.gatewayPort : 0,
    token,
    model: access,
    knownSecrets: [UPSTREAM_KEY, GITHUB_TOKEN],
    limits,
    usageSoFar: noUsage,
    tools: kind === "dynamic" ? { allowed: ["read", "grep", "glob"], resultTool: "StructuredOutput", treePath: checkout.treePath } : null,
    shim:
      kind === "diff"
        ? { pullRequest: lease.job.pullRequest, checkout, botLogin: lease.botLogin, stateComment: virtualComment(prior) }
        : null,
  })
  const phases: RunPhase[] = []
  return {
    lease,
    checkout,
    gateway,
    token,
    slot,
    boundary,
    prefix,
    scratch: directory.scratch,
    runDirectory: directory.run,
    limits,
    contextTokens: access.contextTokens,
    outputTokens: access.outputTokens,
    onPhase: (phase) => phases.push(phase),
    directory,
    phases,
    async close() {
      await gateway.close()
      await removeJobDirectory(directory, slot, boundary)
    },
  }
}

type LeaseParts = Readonly<{
  kind: ReviewKind
  headSha: string
  baseSha: string
  gitUrl: string
  state: FindingState | null
  skill: string | null
}>

function leaseOf({ kind, headSha, baseSha, gitUrl, state, skill }: LeaseParts): Lease {
  const pullRequest = {
    owner: "acme",
    repository: "sample",
    number: 1,
    title: "Add retries",
    description: "Retries until it works.",
    author: "alice",
    baseRef: "main",
    headRef: "retries",
    webUrl: "https://github.example/acme/sample/pull/1",
    gitUrl,
  }
  return {
    leaseId: crypto.randomUUID(),
    leaseToken: randomBytes(32).toString("hex"),
    fence: 1,
    leaseMs: 60_000,
    heartbeatMs: 15_000,
    attempt: 1,
    job: { id: crypto.randomUUID(), kind, headSha, baseSha, previousHeadSha: null, pullRequest },
    settings: { model: "any", skill, maxFindings: 10 },
    limits: defaultJobLimits,
    prior: { state, tampered: false },
    botLogin: "galley[bot]",
    runUrl: "https://galley.example/runs/1",
    usageSoFar: noUsage,
  }
}
