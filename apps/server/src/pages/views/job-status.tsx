import type { OpenJob } from "@galley/store/pull-requests/pull-request-overview"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { noRunnerFor } from "../no-runner.ts"
import { kindNames } from "../words.ts"
import { JobBadge } from "./parts.tsx"

type Props = { base: string; job: OpenJob; runners: readonly RunnerSummary[]; now?: Date }

/** An unfinished job: where it stands, and why nobody takes it when nobody can. */
export function JobStatus({ base, job, runners, now = new Date() }: Props) {
  const seconds = Math.ceil((job.runAfter.getTime() - now.getTime()) / 1000)
  const nobody = job.state === "waiting" ? noRunnerFor(job, runners, now) : null
  return (
    <span class="job">
      <JobBadge state={job.state} />{" "}
      {job.state !== "waiting" && job.runId !== null ? (
        <a href={`${base}/runs/${job.runId}`}>{kindNames[job.kind]}</a>
      ) : (
        <span>{kindNames[job.kind]}</span>
      )}
      {job.state === "waiting" && seconds > 0 ? <span class="muted">, due in {seconds} s</span> : null}
      {nobody === null ? null : (
        <strong class="warning">
          {nobody} <a href={`${base}/runners`}>See the runners</a>
        </strong>
      )}
    </span>
  )
}
