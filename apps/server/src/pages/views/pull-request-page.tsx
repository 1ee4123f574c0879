import type { Project } from "@galley/store/projects/project"
import type { PullRequestOverview } from "@galley/store/pull-requests/pull-request-overview"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import type { RunSummary } from "@galley/store/runs/run-summary"
import type { ReviewHistory } from "@galley/store/runs/why-no-review"
import { mayActAs } from "../access/require-access.ts"
import type { PageContext } from "../page-env.ts"
import { reviewStanding } from "../review-standing.ts"
import { causeNames } from "../words.ts"
import { JobStatus } from "./job-status.tsx"
import { Layout } from "./layout.tsx"
import { Ago, Badge, Empty, Fact, JobBadge, KindName, Reason, ShaText, Table } from "./parts.tsx"
import { LastReview, ReviewNow } from "./pull-request-parts.tsx"
import { RunsTable } from "./runs-table.tsx"

type Props = {
  c: PageContext
  project: Project
  number: number
  /** Null when only deliveries are known of it. */
  pullRequest: PullRequestOverview | null
  history: ReviewHistory
  runs: readonly RunSummary[]
  runners: readonly RunnerSummary[]
}

export function PullRequestPage(props: Props) {
  const { c, project, number, pullRequest, runs } = props
  const { slug, role } = c.get("workspace")
  const base = `/w/${slug}`
  const here = `${base}/projects/${project.id}/pulls/${number}`
  const mayReview = project.settings.active && pullRequest?.open === true && mayActAs(role, "member")
  const live = pullRequest !== null && pullRequest.jobs.length > 0
  return (
    <Layout c={c} title={`#${number} ${pullRequest?.title ?? ""}`} section="projects">
      <p class="crumbs">
        <a href={`${base}/projects/${project.id}`}>
          {project.owner}/{project.name}
        </a>
      </p>
      <div class="title">
        <h1>
          #{number} {pullRequest?.title ?? "Pull request"}
        </h1>
        <span class="grow"></span>
        <ReviewNow action={`${here}/review`} number={number} enabled={mayReview} />
        <Links project={project} number={number} pullRequest={pullRequest} />
      </div>
      {/* While a job is open the section fetches itself anew; without scripts a reload does the same. */}
      <div id="standing" {...(live ? { "hx-get": here, "hx-trigger": "every 3s", "hx-select": "#standing", "hx-swap": "outerHTML" } : {})}>
        <Current {...props} base={base} here={here} mayCancel={mayActAs(role, "member")} />
        <h2>Jobs</h2>
        <Jobs history={props.history} />
        <h2>Runs</h2>
        {runs.length === 0 ? <Empty>No runs yet.</Empty> : <RunsTable base={base} label="Runs" runs={runs} />}
        <h2>Deliveries</h2>
        <Deliveries history={props.history} />
      </div>
    </Layout>
  )
}

function Links({ project, number, pullRequest }: Pick<Props, "project" | "number" | "pullRequest">) {
  const webUrl = pullRequest?.webUrl ?? `${project.webUrl}/pull/${number}`
  return (
    <>
      <a class="button" href={webUrl} rel="noreferrer">
        Pull request
      </a>
      {pullRequest === null || pullRequest.commentId === null ? null : (
        <a class="button" href={`${webUrl}#issuecomment-${pullRequest.commentId}`} rel="noreferrer">
          Summary comment
        </a>
      )}
    </>
  )
}

type CurrentProps = Props & { base: string; here: string; mayCancel: boolean }

function Current({ base, here, mayCancel, project, pullRequest, history, runners }: CurrentProps) {
  return (
    <>
      <p class="lead">{reviewStanding({ settings: project.settings, pullRequest, history })}</p>
      {pullRequest === null ? null : (
        <dl class="facts">
          <Fact name="Head">
            <ShaText sha={pullRequest.headSha} /> on {pullRequest.headRef}
          </Fact>
          <Fact name="Last review">
            <LastReview headSha={pullRequest.headSha} lastReviewedSha={pullRequest.lastReviewedSha} />
          </Fact>
          <Fact name="State">
            {pullRequest.open ? "open" : "closed"}
            {pullRequest.draft ? ", draft" : ""}
          </Fact>
          {pullRequest.jobs.map((job) => (
            <Fact name="Job">
              <JobStatus base={base} job={job} runners={runners} />
              {mayCancel ? <CancelJob action={`${here}/jobs/${job.id}/cancel`} /> : null}
            </Fact>
          ))}
        </dl>
      )}
    </>
  )
}

function CancelJob({ action }: { action: string }) {
  return (
    <form method="post" action={action}>
      <button type="submit">Cancel</button>
    </form>
  )
}

function Jobs({ history: { jobs } }: { history: ReviewHistory }) {
  if (jobs.length === 0) return <Empty>No review was queued.</Empty>
  return (
    <Table label="Jobs" head={["Queued", "Head", "Kind", "Asked for by", "State", { number: "Attempts" }, "Reason"]}>
      {jobs.map((job) => (
        <tr>
          <th scope="row">
            <Ago at={job.createdAt} />
          </th>
          <td>
            <ShaText sha={job.headSha} />
          </td>
          <td>
            <KindName kind={job.reviewKind} />
          </td>
          <td>
            {causeNames[job.cause]}
            {job.requestedBy === null ? "" : ` (${job.requestedBy})`}
          </td>
          <td>
            <JobBadge state={job.state} />
          </td>
          <td class="number">{job.attempt}</td>
          <td>
            {job.code === null ? null : <Reason code={job.code} />}
            {job.detail === null || job.detail === "" ? null : <span class="muted block">{job.detail}</span>}
          </td>
        </tr>
      ))}
    </Table>
  )
}

const outcomeTones = { received: "info", queued: "good", cancelled: "warn", accepted: "info", ignored: "neutral" } as const

function Deliveries({ history: { deliveries } }: { history: ReviewHistory }) {
  if (deliveries.length === 0) return <Empty>No webhook about this pull request has arrived.</Empty>
  return (
    <Table label="Deliveries" head={["Received", "Event", "Outcome", "Reason"]}>
      {deliveries.map((delivery) => (
        <tr>
          <th scope="row">
            <Ago at={delivery.receivedAt} />
          </th>
          <td>
            {delivery.event}
            {delivery.action === null ? "" : ` ${delivery.action}`}
          </td>
          <td>
            <Badge tone={outcomeTones[delivery.outcome]}>{delivery.outcome}</Badge>
          </td>
          <td>{delivery.reason === null ? null : <Reason code={delivery.reason} />}</td>
        </tr>
      ))}
    </Table>
  )
}
