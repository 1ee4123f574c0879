import { errorCode } from "@galley/contract/errors"
import { finalFaults } from "@galley/github/final-faults"
import { listOpenPullRequests, type OpenPullRequest } from "@galley/github/open-pull-requests"
import { requestRefresh } from "@galley/store/intake/request-refresh"
import { upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { AUTOMATIC_PRIORITY } from "@galley/store/queue/job"
import { findHeadFacts, type HeadFacts } from "@galley/store/reconciler/find-head-facts"
import { markReconciled } from "@galley/store/reconciler/mark-reconciled"
import { listDueProjects, type ProjectScan, recordProjectScan } from "@galley/store/reconciler/project-scans"
import { withLiveProject } from "@galley/store/reconciler/with-live-project"
import type { ServerContext } from "../context.ts"
import { pullRequestSnapshot } from "../intake/pull-request-snapshot.ts"
import { decideOpenHead } from "./decide-open-head.ts"

/** What one run may cost, and how long a compared project rests. */
export type HeadBounds = Readonly<{ pages: number; restMs: number }>
const defaultBounds: HeadBounds = { pages: 60, restMs: 15 * 60_000 }
const PROJECTS_AT_A_TIME = 20

const unknownHead = { reviewed: false, handled: false, underReview: false }

/**
 * Compares the heads of open pull requests with their jobs and queues those that were missed, for every active project of every live
 * installation. One bounded run: each project's next page is stored, and the project that waited longest comes first.
 *
 * @returns how many reviews were queued
 * @throws codes of `githubFault` other than a rate limit or what concerns one repository alone
 */
export async function reconcileHeads(context: ServerContext, signal: AbortSignal, bounds: HeadBounds = defaultBounds): Promise<number> {
  const dueBefore = new Date(Date.now() - bounds.restMs)
  const resting = new Set<number>()
  let queued = 0
  for (let pages = bounds.pages; pages > 0 && !signal.aborted; ) {
    const due = await listDueProjects(context.store, context.hostId, { dueBefore, resting: [...resting], limit: PROJECTS_AT_A_TIME })
    if (due.length === 0) break
    for (const project of due) {
      if (pages === 0 || signal.aborted) break
      if (resting.has(project.githubInstallationId)) continue
      pages--
      const found = await reconcilePage(context, project)
      if (found === "rate_limited") resting.add(project.githubInstallationId)
      else queued += found
    }
  }
  return queued
}

/** A rate limit is one installation's: the others go on. */
async function reconcilePage(context: ServerContext, project: ProjectScan): Promise<number | "rate_limited"> {
  const call = context.github.forRepository(project.githubInstallationId, project.githubRepositoryId)
  try {
    const { pullRequests, isLast } = await listOpenPullRequests(call, { owner: project.owner, repository: project.name }, project.page)
    const queued = await queueMissed(context, project, pullRequests)
    await recordProjectScan(context.store, project.projectId, isLast ? null : project.page + 1)
    return queued
  } catch (error) {
    const code = errorCode(error)
    if (code === "github_rate_limited") return "rate_limited"
    if (!finalFaults.has(code) && code !== "github_unauthorized") throw error
    context.log.warn({ projectId: project.projectId, code }, "open pull requests cannot be read")
    await recordProjectScan(context.store, project.projectId, null)
    return 0
  }
}

async function queueMissed(context: ServerContext, project: ProjectScan, pulls: readonly OpenPullRequest[]): Promise<number> {
  const facts = await findHeadFacts(context.store.sql, project.projectId, pulls)
  const candidates = pulls.filter(({ number }) => !isKnown(facts.get(number)))
  let queued = 0
  for (const pull of candidates) if (await queueIfMissed(context, project, pull)) queued++
  return queued
}

/** Most heads are: they are left alone without a transaction of their own. */
const isKnown = (facts: HeadFacts | undefined): boolean => facts !== undefined && (facts.reviewed || facts.handled)

async function queueIfMissed({ store, log }: ServerContext, project: ProjectScan, pull: OpenPullRequest): Promise<boolean> {
  const jobId = await withLiveProject(store, project, async (tx, { settings, activatedAt }) => {
    const snapshot = pullRequestSnapshot(pull, project.webUrl)
    const stored = await upsertPullRequest(tx, { id: project.projectId, workspaceId: project.workspaceId }, snapshot)
    // An event came while the page was read, and knows better; or GitHub has to say what holds.
    if (stored.snapshot === "tied") await requestRefresh(tx, { ...project, number: pull.number, updatedAt: stored.updatedAt })
    if (stored.snapshot !== "stored") return null
    // Again, now that the pull request is locked: another server may have queued it.
    const facts = (await findHeadFacts(tx.sql, project.projectId, [pull])).get(pull.number) ?? unknownHead
    const decision = decideOpenHead(pull, settings, facts, activatedAt)
    if (decision.action === "ignore") return null
    await markReconciled(tx, stored.id)
    const job = await enqueueJob(tx, {
      workspaceId: project.workspaceId,
      pullRequestId: stored.id,
      headSha: pull.headSha,
      baseSha: pull.baseSha,
      headUpdatedAt: snapshot.updatedAt,
      kind: settings.reviewKind,
      cause: "reconciler",
      debounceMs: 0,
      priority: AUTOMATIC_PRIORITY,
    })
    return job.jobId
  })
  if (jobId !== null) log.info({ jobId, projectId: project.projectId, number: pull.number }, "missed head queued")
  return jobId !== null
}
