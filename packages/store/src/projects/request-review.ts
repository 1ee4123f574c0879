import { GalleyError } from "@galley/contract/errors"
import { ProjectSettings } from "@galley/contract/settings"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { requestRefresh } from "../intake/request-refresh.ts"
import { type EnqueuedJob, enqueueJob } from "../queue/enqueue-job.ts"
import { URGENT_PRIORITY } from "../queue/job.ts"
import { inTransaction } from "../transaction.ts"

/**
 * Review now: an urgent job at the newest head Galley knows of the pull request, also when that head was reviewed before. Throws
 * `not_found`, `project_inactive`, `installation_gone`, `installation_suspended`, `repository_gone`, `pull_request_closed`.
 */
export async function requestReview(
  store: Store,
  request: { workspaceId: string; projectId: string; pullRequestNumber: number; actor: string },
): Promise<EnqueuedJob> {
  return inTransaction(store, async (tx) => {
    const { sql } = tx
    const [project] = await sql<[{ settings: unknown; removed: boolean; installationId: string }?]>`
      select settings, removed_at is not null as removed, installation_id as "installationId" from projects
      where id = ${request.projectId} and workspace_id = ${request.workspaceId} for share`
    const [pullRequest] = await sql<[{ id: string; headSha: string; baseSha: string; updatedAt: Date; open: boolean }?]>`
      select id, head_sha as "headSha", base_sha as "baseSha", updated_at as "updatedAt", open from pull_requests
      where project_id = ${request.projectId} and number = ${request.pullRequestNumber} for update`
    if (!project || !pullRequest) throw new GalleyError("not_found", "no such pull request")
    const [installation] = await sql<[{ suspended: boolean; removed: boolean }]>`
      select suspended_at is not null as suspended, removed_at is not null as removed from installations
      where id = ${project.installationId}`
    const settings = ProjectSettings.parse(project.settings)
    if (installation.removed) throw new GalleyError("installation_gone", "the App is no longer installed there")
    if (installation.suspended) throw new GalleyError("installation_suspended", "the installation is suspended at GitHub")
    if (project.removed) throw new GalleyError("repository_gone", "the repository is no longer part of the installation")
    if (!settings.active) throw new GalleyError("project_inactive", "the project is not active")
    if (!pullRequest.open) throw new GalleyError("pull_request_closed", "the pull request is closed")

    const job = await enqueueJob(tx, {
      workspaceId: request.workspaceId,
      pullRequestId: pullRequest.id,
      headSha: pullRequest.headSha,
      baseSha: pullRequest.baseSha,
      headUpdatedAt: pullRequest.updatedAt,
      kind: settings.reviewKind,
      cause: "manual",
      requestedBy: request.actor,
      debounceMs: 0,
      priority: URGENT_PRIORITY,
    })
    // An event may have been lost: then the job moves to the head that GitHub has.
    await requestRefresh(tx, { ...request, number: request.pullRequestNumber, updatedAt: pullRequest.updatedAt })
    await recordAudit(sql, { workspaceId: request.workspaceId, actor: request.actor, action: "review.request", subject: job.jobId })
    return job
  })
}
