import { randomBytes, randomUUID } from "node:crypto"
import { ProjectSettings, type ReviewKind } from "@galley/contract/settings"
import { openStore, type Store } from "@galley/store/database"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { recordRepositories } from "@galley/store/installations/record-repositories"
import type { IntakeProject } from "@galley/store/intake/read-target"
import { type PullRequestSnapshot, upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { type ClaimedLease, claimJobs } from "@galley/store/queue/claim-jobs"
import { enqueueJob, type WantedReview } from "@galley/store/queue/enqueue-job"
import { registerRunner } from "@galley/store/runners/register-runner"
import { inTransaction, type Transaction } from "@galley/store/transaction"
import { bootstrapWorkspace } from "@galley/store/workspaces/bootstrap-workspace"
import { expect, onTestFinished } from "vitest"
import { freshDatabase } from "./database.ts"

export { reviewed } from "./reviewed-result.ts"

export const bothKinds: readonly ReviewKind[] = ["diff", "dynamic"]

/** A commit id made of one repeated hex digit pair. */
export const sha = (digit: string): string => digit.repeat(40).slice(0, 40)

export const testKeyRing = { current: { id: "k1", key: randomBytes(32) } }

/** A store on a database of its own; closed when the test ends. Any fault nobody waited for fails the test. */
export async function freshStore(url?: string): Promise<Store & { url: string }> {
  const database = url ?? (await freshDatabase()).url
  const faults: unknown[] = []
  const store = await openStore({
    url: database,
    keyRing: testKeyRing,
    applicationName: "galley-test",
    onError: (error) => faults.push(error),
  })
  onTestFinished(async () => {
    await store.close()
    expect(faults).toEqual([])
  })
  return { ...store, url: database }
}

export interface Tenant {
  workspaceId: string
  hostId: string
  projectId: string
  repositoryId: number
  installationId: number
  runnerId: string
}

/** A workspace with one installation, one active project and one runner of its own. */
export async function seedTenant(
  store: Store,
  options: { maxRunningJobs?: number; settings?: Record<string, unknown>; sharedRunner?: boolean } = {},
): Promise<Tenant> {
  const slug = `w-${randomUUID().slice(0, 13)}`
  const repositoryId = Number.parseInt(randomBytes(5).toString("hex"), 16)
  const { workspaceId, hostId } = await bootstrapWorkspace(store, {
    workspace: { slug, name: slug, ...(options.maxRunningJobs !== undefined && { maxRunningJobs: options.maxRunningJobs }) },
    host: {
      name: "github.example",
      webUrl: "https://github.example",
      apiUrl: "https://api.github.example",
      appId: 1,
      appSlug: "galley",
      privateKey: "a private key",
      webhookSecrets: ["a webhook secret"],
      clientId: null,
      clientSecret: null,
    },
  })
  if (hostId === null) throw new Error("no host")
  const [project] = await inTransaction(store, async (tx) => {
    const snapshot = { hostId, githubInstallationId: repositoryId, accountLogin: slug, isLive: true }
    const installation = await recordInstallation(tx, workspaceId, snapshot)
    const webUrl = `https://github.example/${slug}/demo`
    await recordRepositories(tx, { ...installation, hostId }, [
      { githubRepositoryId: repositoryId, owner: slug, name: "demo", webUrl, gitUrl: `${webUrl}.git` },
    ])
    const settings = tx.sql.json({ active: true, ...options.settings } as never)
    return tx.sql<{ id: string }[]>`
      update projects set settings = ${settings} where github_repository_id = ${repositoryId} returning id`
  })
  const { runnerId } = await registerRunner(store, { workspaceId: options.sharedRunner ? null : workspaceId, name: slug, actor: "test" })
  return { workspaceId, hostId, projectId: project?.id ?? "", repositoryId, installationId: repositoryId, runnerId }
}

export function pullRequestSnapshot(number: number, changes: Partial<PullRequestSnapshot> = {}): PullRequestSnapshot {
  return {
    number,
    title: "A change",
    description: "",
    author: "octocat",
    baseRef: "main",
    baseSha: sha("b0"),
    headRef: "topic",
    headSha: sha("a1"),
    webUrl: `https://github.example/o/r/pull/${number}`,
    draft: false,
    open: true,
    updatedAt: new Date("2026-11-30T10:00:00Z"),
    ...changes,
  }
}

/** Records a push to a pull request and queues its review, as the server does for an event. */
export async function push(
  store: Store,
  tenant: Tenant,
  number: number,
  options: { snapshot?: Partial<PullRequestSnapshot>; wanted?: Partial<WantedReview> } = {},
): Promise<{ jobId: string; isNew: boolean; runAfter: Date; pullRequestId: string }> {
  return inTransaction(store, async (tx) => {
    const [project] = await tx.sql<[{ settings: unknown }]>`select settings from projects where id = ${tenant.projectId} for share`
    const snapshot = pullRequestSnapshot(number, options.snapshot)
    const pullRequest = await upsertPullRequest(tx, { id: tenant.projectId, workspaceId: tenant.workspaceId }, snapshot)
    const job = await enqueueJob(tx, {
      workspaceId: tenant.workspaceId,
      pullRequestId: pullRequest.id,
      headSha: snapshot.headSha,
      baseSha: snapshot.baseSha,
      headUpdatedAt: snapshot.updatedAt,
      kind: ProjectSettings.parse(project.settings).reviewKind,
      cause: "event",
      debounceMs: 0,
      priority: 0,
      ...options.wanted,
    })
    return { ...job, pullRequestId: pullRequest.id }
  })
}

/** Queues a review of pull request 1, as the server decides for an opened one. */
export async function queueReview(tx: Transaction, project: IntakeProject | null): Promise<DeliveryVerdict> {
  if (!project) throw new Error("the project is not known")
  const snapshot = pullRequestSnapshot(1)
  const pullRequest = await upsertPullRequest(tx, project, snapshot)
  const { jobId } = await enqueueJob(tx, {
    workspaceId: project.workspaceId,
    pullRequestId: pullRequest.id,
    headSha: snapshot.headSha,
    baseSha: snapshot.baseSha,
    headUpdatedAt: snapshot.updatedAt,
    kind: project.settings.reviewKind,
    cause: "event",
    debounceMs: 0,
    priority: 0,
  })
  return { outcome: "queued", reason: null, jobId }
}

/** One lease for the tenant's runner, or null. */
export async function claim(
  store: Store,
  tenant: Tenant,
  options: { kinds?: readonly ReviewKind[]; requestId?: string; leaseMs?: number; anyWorkspace?: boolean } = {},
): Promise<ClaimedLease | null> {
  const request = {
    requestId: options.requestId ?? randomUUID(),
    runnerId: tenant.runnerId,
    workspaceId: options.anyWorkspace ? null : tenant.workspaceId,
    kinds: options.kinds ?? bothKinds,
  }
  const [lease] = await claimJobs(store, [request], { leaseMs: options.leaseMs ?? 60_000 })
  return lease ?? null
}

/** A lease that must be there. */
export async function claimed(store: Store, tenant: Tenant, options: Parameters<typeof claim>[2] = {}): Promise<ClaimedLease> {
  const lease = await claim(store, tenant, options)
  if (!lease) throw new Error("nothing to lease")
  return lease
}

export interface JobRow {
  state: string
  code: string | null
  detail: string | null
  headSha: string
  kind: string
  failures: number
  runAfter: Date
}

/** What the database says of a job now. */
export async function readJob(store: Store, jobId: string): Promise<JobRow> {
  const [job] = await store.sql<[JobRow]>`
    select state, code, detail, head_sha as "headSha", review_kind as kind, failures, run_after as "runAfter"
    from review_jobs where id = ${jobId}`
  return job
}

/** Lets a lease run out now instead of in a minute. */
export async function runOut(store: Store, leaseId: string): Promise<void> {
  await store.sql`
    update review_jobs set lease_expires_at = clock_timestamp() - interval '1 millisecond' where run_id = ${leaseId} and state = 'running'`
}

/** Makes a debounced or backed-off job due. */
export async function makeDue(store: Store, jobId: string): Promise<void> {
  await store.sql`update review_jobs set run_after = now() where id = ${jobId}`
}
