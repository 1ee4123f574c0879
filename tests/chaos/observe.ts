import type { FakeGitHub } from "@galley/fake-github"
import { parseComment } from "@galley/findings/comment-state"
import { type ChaosRig, repoOf } from "./chaos-rig.ts"
import type { Stage } from "./play.ts"
import type { Story } from "./story.ts"
import type { DeliveryRecord, PullRequestRecord, World } from "./world.ts"

/** Reads what GitHub and the database hold. */
export async function observe(story: Story, stage: Stage, rig: ChaosRig, unfinished: readonly string[]): Promise<World> {
  const { intake, github } = rig
  const { sql } = intake
  const jobs = await sql<(PullRequestRecord["jobs"][number] & { number: number })[]>`
    select q.number, j.state, j.code, j.head_sha as "headSha" from review_jobs j join pull_requests q on q.id = j.pull_request_id
    order by j.created_at, j.id`
  const published = await sql<{ number: number; headSha: string }[]>`
    select q.number, r.head_sha as "headSha" from review_runs r join pull_requests q on q.id = r.pull_request_id
    where r.published_at is not null`
  const stored = await sql<{ id: string }[]>`select delivery_id as id from webhook_deliveries`
  const recordOf = (number: number): PullRequestRecord => ({
    jobs: jobs.filter((job) => job.number === number),
    publishedShas: published.filter((run) => run.number === number).map(({ headSha }) => headSha),
    commentShas: commentShas(github, number),
    commentsWritten: stage.commentsWritten(number),
  })
  return {
    pullRequests: new Map(story.expectations.map(({ number }) => [number, recordOf(number)])),
    deliveries: deliveryRecords(github, new Set(stored.map(({ id }) => id))),
    unfinished,
  }
}

function commentShas(github: FakeGitHub, number: number): (string | null)[] {
  return github
    .comments({ repo: repoOf(number), number })
    .filter(({ byApp }) => byApp)
    .map(({ body }) => parseComment(body)?.state.last_run?.head_sha ?? null)
}

function deliveryRecords(github: FakeGitHub, stored: ReadonlySet<string>): DeliveryRecord[] {
  const records = new Map<string, DeliveryRecord>()
  for (const { guid, event, statusCode } of github.deliveries()) {
    const acknowledged = (statusCode >= 200 && statusCode < 300) || (records.get(guid)?.acknowledged ?? false)
    records.set(guid, { id: guid, event, acknowledged, stored: stored.has(guid) })
  }
  return [...records.values()]
}
