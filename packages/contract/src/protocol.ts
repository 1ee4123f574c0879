import { z } from "zod"
import { Coverage } from "./coverage.ts"
import { Finding, FindingState } from "./finding.ts"
import { JobLimits } from "./limits.ts"
import { ReviewKind } from "./settings.ts"
import { Sha } from "./sha.ts"
import { Usage } from "./usage.ts"

/**
 * Runner protocol v1, below `/runner/v1`. JSON over HTTP; every request carries `Authorization: Bearer <runner token>`,
 * every verb on a lease also `Galley-Lease-Token: <lease token>`.
 *
 * | verb | answers |
 * |---|---|
 * | POST leases | 200 `Lease`, or 204 when nothing came within the wait |
 * | POST leases/{id}/credentials | 200 `Credentials` |
 * | POST leases/{id}/heartbeat | 200 `HeartbeatAnswer` |
 * | POST leases/{id}/result | 200, also for the same body again |
 * | POST leases/{id}/failure, /release | 200 |
 *
 * Errors are `{ error: { code, message, field? } }`: 401 `runner_unauthorized`, 409 `lease_lost`, 413 `result_too_large`,
 * 422 `request_invalid`, and for a result that does not fit its lease `head_sha_mismatch`, `comment_invalid` or `comment_too_large`,
 * 426 `runner_too_old`.
 */
/** Path of the protocol below the server's address. */
export const RUNNER_PROTOCOL_PATH = "/runner/v1"
export const LEASE_TOKEN_HEADER = "galley-lease-token"

/** Proof that a runner can do a kind: what it checked and until when the proof counts. */
export const Capability = z.strictObject({
  kind: ReviewKind,
  engineVersion: z.string().min(1).max(100),
  boundary: z.enum(["enforced", "demo"]),
  checkedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
})
export type Capability = z.infer<typeof Capability>

export const LeaseRequest = z.strictObject({
  /** Same id again = the same lease again, when the answer was lost. */
  requestId: z.uuid().toLowerCase(),
  runnerName: z.string().min(1).max(100),
  runnerVersion: z.string().min(1).max(50),
  capabilities: z.array(Capability).min(1).max(8),
  freeSlots: z.int().min(1).max(64),
  waitMs: z.int().min(0).max(25_000),
})
export type LeaseRequest = z.infer<typeof LeaseRequest>

/** The pull request as data for prompt and shim. Text is untrusted. */
export const PullRequestFacts = z.strictObject({
  owner: z.string(),
  repository: z.string(),
  number: z.int().min(1),
  title: z.string(),
  description: z.string(),
  author: z.string(),
  baseRef: z.string(),
  headRef: z.string(),
  webUrl: z.url(),
  /** Address to fetch from, without credentials. */
  gitUrl: z.url(),
})
export type PullRequestFacts = z.infer<typeof PullRequestFacts>

/** A lease holds no secret but its own token, so that everything else of it can be logged. Times are in the database's clock. */
export const Lease = z.strictObject({
  leaseId: z.uuid(),
  leaseToken: z.string().min(32),
  fence: z.int().min(1),
  /** Milliseconds after which the server gives the job away unless renewed. */
  leaseMs: z.int().min(1),
  heartbeatMs: z.int().min(1),
  attempt: z.int().min(1),
  job: z.strictObject({
    id: z.uuid(),
    kind: ReviewKind,
    headSha: Sha,
    baseSha: Sha,
    previousHeadSha: Sha.nullable(),
    pullRequest: PullRequestFacts,
  }),
  settings: z.strictObject({
    model: z.string(),
    /** null = the shipped skill */
    skill: z.string().nullable(),
    maxFindings: z.int().min(1).max(30),
  }),
  limits: JobLimits,
  prior: z.strictObject({
    /** null = no review yet */
    state: FindingState.nullable(),
    /** The comment's state differs from what was last published; `state` is the restored one. */
    tampered: z.boolean(),
  }),
  /** Login of the App's bot, the author the shim pretends to be. */
  botLogin: z.string(),
  /** Usage of earlier attempts at the same job: the budget spans attempts. */
  usageSoFar: Usage,
  /** Page of this run, linked from the comment. */
  runUrl: z.url(),
})
export type Lease = z.infer<typeof Lease>

export const Credentials = z.strictObject({
  /** Read-only installation token, narrowed to the contents of one repository. */
  githubToken: z.string().min(1),
  model: z.strictObject({
    baseUrl: z.url(),
    apiKey: z.string(),
    /** Upstream id of the logical model. */
    upstreamModel: z.string().min(1),
    contextTokens: z.int().min(1_000),
    outputTokens: z.int().min(100),
    /** USD per million tokens, when known. */
    price: z.strictObject({ input: z.number().min(0), output: z.number().min(0) }).nullable(),
  }),
})
export type Credentials = z.infer<typeof Credentials>

/** Where a run stands, in this order. */
export const RunPhase = z.enum(["preparing", "starting_engine", "reviewing", "reconciling", "handing_over"])
export type RunPhase = z.infer<typeof RunPhase>

export const Heartbeat = z.strictObject({
  phase: RunPhase,
  /** One short line for people, e.g. "12 model calls". */
  progress: z.string().max(200),
  usage: Usage,
})
export type Heartbeat = z.infer<typeof Heartbeat>

export const HeartbeatAnswer = z.strictObject({ action: z.enum(["continue", "cancel", "superseded"]) })
export type HeartbeatAnswer = z.infer<typeof HeartbeatAnswer>

/** How a run spent its time: steps in order with milliseconds, and what the engine was. */
export const RunTrace = z.strictObject({
  engine: z.strictObject({ name: z.string(), version: z.string() }),
  steps: z.array(z.strictObject({ name: z.string().max(50), ms: z.number().min(0) })).max(50),
  droppedFindings: z.array(z.strictObject({ reason: z.string().max(100), count: z.int().min(1) })).max(50),
})
export type RunTrace = z.infer<typeof RunTrace>

/** `reviewed`: publish `comment`. `skipped`: nothing reviewable; the last good comment stays. */
export const LeaseResult = z.discriminatedUnion("outcome", [
  z.strictObject({
    outcome: z.literal("reviewed"),
    fence: z.int().min(1),
    reviewedSha: Sha,
    state: FindingState,
    findings: z.array(Finding).max(1_000),
    coverage: Coverage,
    usage: Usage,
    trace: RunTrace,
    /** The whole comment body with its state block, at most 65,000 characters. */
    comment: z.string().min(1),
  }),
  z.strictObject({
    outcome: z.literal("skipped"),
    fence: z.int().min(1),
    reviewedSha: Sha,
    code: z.literal("no_reviewable_files"),
    coverage: Coverage,
    usage: Usage,
    trace: RunTrace,
  }),
])
export type LeaseResult = z.infer<typeof LeaseResult>

export const LeaseFailure = z.strictObject({
  fence: z.int().min(1),
  /** One of `galleyErrorCodes`; not a closed list here, so that a newer runner can report to an older server. */
  code: z.string().regex(/^[a-z][a-z0-9_]{0,99}$/),
  /** For operators: one or two sentences, redacted, never repository text. */
  detail: z.string().max(2_000),
  /** False when another attempt would end the same way (bad input), true for passing faults. */
  retryable: z.boolean(),
  usage: Usage,
})
export type LeaseFailure = z.infer<typeof LeaseFailure>

export const ErrorBody = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), field: z.string().optional() }),
})
export type ErrorBody = z.infer<typeof ErrorBody>
