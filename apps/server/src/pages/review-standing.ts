import type { Project } from "@galley/store/projects/project"
import type { PullRequestOverview } from "@galley/store/pull-requests/pull-request-overview"
import type { ReviewHistory } from "@galley/store/runs/why-no-review"
import { explain, jobStateNames } from "./words.ts"

type Standing = Readonly<{
  settings: Pick<Project["settings"], "active">
  pullRequest: Pick<PullRequestOverview, "headSha" | "lastReviewedSha" | "open" | "jobs"> | null
  history: Readonly<{
    jobs: readonly Pick<ReviewHistory["jobs"][number], "state" | "code" | "headSha">[]
    deliveries: readonly Pick<ReviewHistory["deliveries"][number], "outcome" | "reason">[]
  }>
}>

/** "Why no review?" in one or two sentences: the nearest reason first. Pure. */
export function reviewStanding({ settings, pullRequest, history }: Standing): string {
  const [busy] = pullRequest?.jobs ?? []
  if (busy?.state === "waiting") return "A review waits for a runner."
  if (busy !== undefined) return "A review is under way."
  if (pullRequest !== null && pullRequest.lastReviewedSha === pullRequest.headSha) return "The current head is reviewed."
  if (!settings.active) return explain("inactive_project")
  if (pullRequest !== null && !pullRequest.open) return explain("pull_request_closed")
  const job = history.jobs.find(({ headSha }) => pullRequest === null || headSha === pullRequest.headSha)
  if (job !== undefined && job.code !== null) return `${jobStateNames[job.state]}. ${explain(job.code)}`
  const ignored = history.deliveries.find(({ outcome, reason }) => outcome === "ignored" && reason !== null)
  if (ignored?.reason) return `No review was started. ${explain(ignored.reason)}`
  return history.deliveries.length === 0 ? "No event about this pull request has arrived." : "No review was asked for at this head."
}
