import { noUsage } from "@galley/contract/usage"
import type { Project } from "@galley/store/projects/project"
import type { PullRequestOverview } from "@galley/store/pull-requests/pull-request-overview"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import type { RunDetail } from "@galley/store/runs/get-run"
import type { RunSummary } from "@galley/store/runs/run-summary"
import type { z } from "zod"
import type { ProjectShape, PullRequestShape, RunAnswer, RunnerShape, RunShape } from "./shapes.ts"

export function projectShape({ id, owner, name, settings, settingsVersion }: Project): ProjectShape {
  return { id, owner, name, settings, settingsVersion }
}

export function pullRequestShape(pullRequest: PullRequestOverview): PullRequestShape {
  const { number, title, headSha, lastReviewedSha, open, jobs } = pullRequest
  return { number, title, headSha, lastReviewedSha, open, jobState: jobs[0]?.state ?? null, jobKind: jobs[0]?.kind ?? null }
}

/** Why a run ended without a published review. Its job's reason counts only when the run handed a result over: else another attempt gave it. */
export function reasonOf({ run, job }: RunSummary): { code: string | null; detail: string | null } {
  const { code, detail } = run.outcome === "reviewed" || run.outcome === "skipped" ? job : run
  return { code: code ?? run.code, detail: detail ?? run.detail }
}

export function runShape(summary: RunSummary): RunShape {
  const { run, job, pullRequest } = summary
  return {
    id: run.id,
    jobId: run.jobId,
    projectId: run.projectId,
    pullRequestNumber: pullRequest.number,
    kind: run.reviewKind,
    attempt: run.attempt,
    headSha: run.headSha,
    outcome: run.outcome,
    jobState: job.state,
    ...reasonOf(summary),
    usage: { ...noUsage, ...run.usage },
    findings: summary.activeFindings,
    commentId: pullRequest.commentId,
    startedAt: run.startedAt.toISOString(),
    endedAt: run.endedAt?.toISOString() ?? null,
    publishedAt: run.publishedAt?.toISOString() ?? null,
  }
}

export function runAnswer(detail: RunDetail): z.infer<typeof RunAnswer> {
  const { result } = detail
  return {
    run: {
      ...runShape(detail),
      comment: result?.comment ?? null,
      coverage: result?.coverage ?? null,
      trace: result?.trace ?? null,
      findingList: result?.findings ?? [],
    },
  }
}

export function runnerShape(runner: RunnerSummary): RunnerShape {
  const { id, name, workspaceId, reportedName, version, capabilities, running } = runner
  return {
    id,
    name,
    shared: workspaceId === null,
    reportedName,
    version,
    capabilities,
    paused: runner.paused ? { note: runner.pausedNote, by: runner.pausedBy, at: runner.pausedAt?.toISOString() ?? null } : null,
    lastSeenAt: runner.lastSeenAt?.toISOString() ?? null,
    oldTokenUntil: runner.oldTokenUntil?.toISOString() ?? null,
    running,
  }
}
