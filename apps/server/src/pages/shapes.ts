import { Coverage } from "@galley/contract/coverage"
import { Finding } from "@galley/contract/finding"
import { Capability, RunTrace } from "@galley/contract/protocol"
import { ProjectSettings, ReviewKind } from "@galley/contract/settings"
import { Sha } from "@galley/contract/sha"
import { Usage } from "@galley/contract/usage"
import { z } from "zod"

/**
 * The pages in JSON, for callers that send `Accept: application/json`. Times are ISO 8601 in UTC.
 *
 * | request | answers |
 * |---|---|
 * | POST /sign-in/demo | 200 `SignedInAnswer` and the session cookie |
 * | GET /w/:slug/projects | 200 `ProjectsAnswer` |
 * | GET /w/:slug/projects/:id | 200 `ProjectAnswer` |
 * | POST /w/:slug/projects/:id/settings (`SettingsRequest`), .../settings/reset-skill (`{ version }`) | 200 `SettingsAnswer` |
 * | POST /w/:slug/projects/:id/pulls/:number/review | 202 `ReviewQueuedAnswer` |
 * | GET /w/:slug/runs, ?project=:id | 200 `RunsAnswer`, newest first, at most 50 |
 * | GET /w/:slug/runs/:id | 200 `RunAnswer` |
 * | GET /w/:slug/runners | 200 `RunnersAnswer` |
 *
 * Errors are `{ error: { code, message, field? } }`. A request that changes something needs the server's own `Origin`.
 */
const Time = z.iso.datetime()
const JobStateShape = z.enum(["waiting", "running", "publishing", "succeeded", "failed", "cancelled", "superseded", "skipped"])

export const SignedInAnswer = z.strictObject({ workspaces: z.array(z.strictObject({ slug: z.string(), name: z.string() })) })
export type SignedInAnswer = z.infer<typeof SignedInAnswer>

export const ProjectShape = z.strictObject({
  id: z.uuid(),
  owner: z.string(),
  name: z.string(),
  settings: ProjectSettings,
  settingsVersion: z.int(),
})
export type ProjectShape = z.infer<typeof ProjectShape>

export const RunShape = z.strictObject({
  id: z.uuid(),
  jobId: z.uuid(),
  projectId: z.uuid(),
  pullRequestNumber: z.int(),
  kind: ReviewKind,
  attempt: z.int(),
  headSha: Sha,
  outcome: z.enum(["running", "reviewed", "skipped", "failed", "lost", "released", "cancelled", "superseded"]),
  jobState: JobStateShape,
  /** Why nothing was reviewed or published. */
  code: z.string().nullable(),
  detail: z.string().nullable(),
  usage: Usage,
  /** Number of active findings; null until the run handed a result over. */
  findings: z.int().nullable(),
  commentId: z.int().nullable(),
  startedAt: Time,
  endedAt: Time.nullable(),
  publishedAt: Time.nullable(),
})
export type RunShape = z.infer<typeof RunShape>

export const PullRequestShape = z.strictObject({
  number: z.int(),
  title: z.string(),
  headSha: Sha,
  lastReviewedSha: Sha.nullable(),
  open: z.boolean(),
  /** Of the busy job, else of the waiting one; null when there is neither. */
  jobState: JobStateShape.nullable(),
  jobKind: ReviewKind.nullable(),
})
export type PullRequestShape = z.infer<typeof PullRequestShape>

export const ProjectsAnswer = z.strictObject({ projects: z.array(ProjectShape) })
export const ProjectAnswer = z.strictObject({
  project: ProjectShape,
  pullRequests: z.array(PullRequestShape),
  runs: z.array(RunShape),
})
export const RunsAnswer = z.strictObject({ runs: z.array(RunShape) })
export const RunAnswer = z.strictObject({
  run: z.strictObject({
    ...RunShape.shape,
    comment: z.string().nullable(),
    coverage: Coverage.nullable(),
    trace: RunTrace.nullable(),
    findingList: z.array(Finding),
  }),
})
export const RunnerShape = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  /** Works for every workspace. */
  shared: z.boolean(),
  /** As the process calls itself; null before its first poll, as the version. */
  reportedName: z.string().nullable(),
  version: z.string().nullable(),
  /** What it last proved, run out or not. */
  capabilities: z.array(Capability),
  paused: z.strictObject({ note: z.string(), by: z.string().nullable(), at: Time.nullable() }).nullable(),
  lastSeenAt: Time.nullable(),
  /** When its old token ends; null when it has one token. */
  oldTokenUntil: Time.nullable(),
  /** Leases of this workspace that it holds. */
  running: z.int(),
})
export type RunnerShape = z.infer<typeof RunnerShape>
export const RunnersAnswer = z.strictObject({ runners: z.array(RunnerShape) })
export const SettingsRequest = z.strictObject({ version: z.int().min(1), changes: z.record(z.string(), z.unknown()) })
export type SettingsRequest = z.infer<typeof SettingsRequest>
export const SettingsAnswer = z.strictObject({ settings: ProjectSettings, version: z.int() })
export const ReviewQueuedAnswer = z.strictObject({ jobId: z.uuid() })
