import type { Coverage } from "@galley/contract/coverage"
import type { Finding, FindingState } from "@galley/contract/finding"
import type { Capability, RunPhase, RunTrace } from "@galley/contract/protocol"
import type { ReviewKind } from "@galley/contract/settings"
import type { Usage } from "@galley/contract/usage"
import {
  bigint,
  boolean,
  customType,
  date,
  doublePrecision,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core"
import type { ProviderModel } from "./providers/model.ts"
import type { JobCause, JobState } from "./queue/job.ts"
import type { RunOutcome } from "./runs/run.ts"

/**
 * The tables as types, for ordinary queries. `migrations/` makes them: constraints, indexes and functions are there alone.
 * A test compares the columns with the migrated database.
 */
const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" })
const at = (name: string) => timestamp(name, { withTimezone: true })
const number = (name: string) => bigint(name, { mode: "number" })

export type Role = "owner" | "admin" | "member" | "viewer"
export type DeliveryOutcome = "received" | "queued" | "cancelled" | "accepted" | "ignored"

export const workspaces = pgTable("workspaces", {
  id: uuid().primaryKey(),
  slug: text().notNull(),
  name: text().notNull(),
  maxRunningJobs: integer("max_running_jobs").notNull().default(4),
  /** Of the turns before `claim_turns`; for servers of the version that still names it. */
  lastClaimedAt: text("last_claimed_at").notNull().default("-infinity"),
  createdAt: at("created_at").notNull().defaultNow(),
})

export const githubHosts = pgTable("github_hosts", {
  id: uuid().primaryKey(),
  name: text().notNull(),
  webUrl: text("web_url").notNull(),
  apiUrl: text("api_url").notNull(),
  appId: number("app_id").notNull(),
  appSlug: text("app_slug").notNull(),
  clientId: text("client_id"),
  sealedClientSecret: bytes("sealed_client_secret"),
  clientSecretKeyId: text("client_secret_key_id"),
  sealedPrivateKey: bytes("sealed_private_key").notNull(),
  privateKeyKeyId: text("private_key_key_id").notNull(),
  webhookSecrets: jsonb("webhook_secrets").$type<{ keyId: string; sealed: string }[]>().notNull(),
  createdAt: at("created_at").notNull().defaultNow(),
})

export const users = pgTable("users", {
  id: uuid().primaryKey(),
  hostId: uuid("host_id").notNull(),
  githubUserId: number("github_user_id").notNull(),
  login: text().notNull(),
  name: text().notNull().default(""),
  avatarUrl: text("avatar_url"),
  createdAt: at("created_at").notNull().defaultNow(),
})

export const memberships = pgTable(
  "memberships",
  {
    workspaceId: uuid("workspace_id").notNull(),
    userId: uuid("user_id").notNull(),
    role: text().$type<Role>().notNull(),
    createdAt: at("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.userId] })],
)

export const sessions = pgTable("sessions", {
  idHash: bytes("id_hash").primaryKey(),
  userId: uuid("user_id").notNull(),
  createdAt: at("created_at").notNull().defaultNow(),
  expiresAt: at("expires_at").notNull(),
})

export const installations = pgTable("installations", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id").notNull(),
  hostId: uuid("host_id").notNull(),
  githubInstallationId: number("github_installation_id").notNull(),
  accountLogin: text("account_login").notNull(),
  suspendedAt: at("suspended_at"),
  removedAt: at("removed_at"),
  createdAt: at("created_at").notNull().defaultNow(),
  permissions: jsonb().$type<Record<string, string>>().notNull().default({}),
  changedAt: at("changed_at"),
})

export const projects = pgTable("projects", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id").notNull(),
  installationId: uuid("installation_id").notNull(),
  hostId: uuid("host_id").notNull(),
  githubRepositoryId: number("github_repository_id").notNull(),
  owner: text().notNull(),
  name: text().notNull(),
  webUrl: text("web_url").notNull(),
  gitUrl: text("git_url").notNull(),
  settings: jsonb().$type<Record<string, unknown>>().notNull().default({}),
  settingsVersion: integer("settings_version").notNull().default(1),
  removedAt: at("removed_at"),
  createdAt: at("created_at").notNull().defaultNow(),
  private: boolean().notNull().default(true),
  activatedAt: at("activated_at"),
})

export const modelProviders = pgTable("model_providers", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id").notNull(),
  name: text().notNull(),
  baseUrl: text("base_url").notNull(),
  sealedApiKey: bytes("sealed_api_key").notNull(),
  apiKeyKeyId: text("api_key_key_id").notNull(),
  models: jsonb().$type<ProviderModel[]>().notNull(),
  defaultModel: text("default_model").notNull(),
  featureCheck: jsonb("feature_check").$type<Record<string, unknown>>(),
  createdAt: at("created_at").notNull().defaultNow(),
  updatedAt: at("updated_at").notNull().defaultNow(),
})

export const pullRequests = pgTable("pull_requests", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id").notNull(),
  projectId: uuid("project_id").notNull(),
  number: integer().notNull(),
  title: text().notNull(),
  description: text().notNull(),
  author: text().notNull(),
  baseRef: text("base_ref").notNull(),
  baseSha: text("base_sha").notNull(),
  headRef: text("head_ref").notNull(),
  headSha: text("head_sha").notNull(),
  webUrl: text("web_url").notNull(),
  draft: boolean().notNull(),
  open: boolean().notNull(),
  updatedAt: at("updated_at").notNull(),
  /** Of the leases before `review_fences`; for servers of the version that still names it. */
  fence: number("fence").notNull().default(0),
  commentId: number("comment_id"),
  lastReviewedSha: text("last_reviewed_sha"),
  publishedFence: number("published_fence").notNull().default(0),
  publishedState: jsonb("published_state").$type<FindingState>(),
  publishedDigest: bytes("published_digest"),
  createdAt: at("created_at").notNull().defaultNow(),
  reconciledAt: at("reconciled_at"),
  reconciledSha: text("reconciled_sha"),
})

export const runners = pgTable("runners", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id"),
  name: text().notNull(),
  tokenHash: bytes("token_hash").notNull(),
  reportedName: text("reported_name"),
  version: text(),
  capabilities: jsonb().$type<Capability[]>().notNull().default([]),
  paused: boolean().notNull().default(false),
  lastSeenAt: at("last_seen_at"),
  createdAt: at("created_at").notNull().defaultNow(),
  previousTokenHash: bytes("previous_token_hash"),
  previousTokenUntil: at("previous_token_until"),
  previousTokenUsedAt: at("previous_token_used_at"),
  pausedNote: text("paused_note").notNull().default(""),
  pausedBy: text("paused_by"),
  pausedAt: at("paused_at"),
  removedAt: at("removed_at"),
})

/** Whom the runners that work for all served last, for each set of kinds. Written by the claim alone. */
export const claimTurns = pgTable("claim_turns", {
  kinds: text().primaryKey(),
  lastWorkspace: uuid("last_workspace").notNull(),
})

export const reviewJobs = pgTable("review_jobs", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id").notNull(),
  projectId: uuid("project_id").notNull(),
  pullRequestId: uuid("pull_request_id").notNull(),
  state: text().$type<JobState>().notNull(),
  cause: text().$type<JobCause>().notNull(),
  requestedBy: text("requested_by"),
  reviewKind: text("review_kind").$type<ReviewKind>().notNull().default("diff"),
  headSha: text("head_sha").notNull(),
  baseSha: text("base_sha").notNull(),
  headUpdatedAt: at("head_updated_at").notNull(),
  priority: smallint().notNull().default(0),
  runAfter: at("run_after").notNull(),
  firstQueuedAt: at("first_queued_at").notNull().defaultNow(),
  createdAt: at("created_at").notNull().defaultNow(),
  attempt: integer().notNull().default(0),
  failures: integer().notNull().default(0),
  cancelCode: text("cancel_code"),
  code: text(),
  detail: text(),
  fence: number("fence"),
  runId: uuid("run_id"),
  leaseTokenHash: bytes("lease_token_hash"),
  leaseExpiresAt: at("lease_expires_at"),
  finishedAt: at("finished_at"),
})

export const reviewRuns = pgTable("review_runs", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id").notNull(),
  projectId: uuid("project_id").notNull(),
  pullRequestId: uuid("pull_request_id").notNull(),
  jobId: uuid("job_id").notNull(),
  runnerId: uuid("runner_id"),
  requestId: uuid("request_id").notNull(),
  attempt: integer().notNull(),
  fence: number("fence").notNull(),
  reviewKind: text("review_kind").$type<ReviewKind>().notNull().default("diff"),
  headSha: text("head_sha").notNull(),
  baseSha: text("base_sha").notNull(),
  outcome: text().$type<RunOutcome>().notNull().default("running"),
  code: text(),
  detail: text(),
  phase: text().$type<RunPhase>(),
  progress: text(),
  usage: jsonb().$type<Partial<Usage>>().notNull().default({}),
  startedAt: at("started_at").notNull().defaultNow(),
  heartbeatAt: at("heartbeat_at"),
  endedAt: at("ended_at"),
  publishedAt: at("published_at"),
  model: text(),
})

export const reviewResults = pgTable("review_results", {
  runId: uuid("run_id").primaryKey(),
  digest: bytes().notNull(),
  state: jsonb().$type<FindingState>(),
  findings: jsonb().$type<Finding[]>().notNull(),
  coverage: jsonb().$type<Coverage>().notNull(),
  trace: jsonb().$type<RunTrace>().notNull(),
  comment: text(),
  storedAt: at("stored_at").notNull().defaultNow(),
})

export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    hostId: uuid("host_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    event: text().notNull(),
    action: text(),
    workspaceId: uuid("workspace_id"),
    projectId: uuid("project_id"),
    pullRequestNumber: integer("pull_request_number"),
    githubInstallationId: number("github_installation_id"),
    githubRepositoryId: number("github_repository_id"),
    outcome: text().$type<DeliveryOutcome>().notNull().default("received"),
    reason: text(),
    jobId: uuid("job_id"),
    receivedAt: at("received_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.hostId, table.deliveryId] })],
)

export const missedDeliveries = pgTable(
  "missed_deliveries",
  {
    hostId: uuid("host_id").notNull(),
    deliveryId: text("delivery_id").notNull(),
    attemptId: text("attempt_id").notNull(),
    event: text().notNull(),
    deliveredAt: at("delivered_at").notNull(),
    succeeded: boolean().notNull(),
    requests: integer().notNull().default(0),
    requestedAt: at("requested_at"),
  },
  (table) => [primaryKey({ columns: [table.hostId, table.deliveryId] })],
)

export const deliveryScans = pgTable("delivery_scans", {
  hostId: uuid("host_id").primaryKey(),
  cursor: text(),
  passStartedAt: at("pass_started_at"),
  pageReadAt: at("page_read_at"),
  scannedUntil: at("scanned_until"),
})

export const projectScans = pgTable("project_scans", {
  projectId: uuid("project_id").primaryKey(),
  page: integer().notNull().default(1),
  endedAt: at("ended_at"),
})

export const usageDays = pgTable(
  "usage_days",
  {
    workspaceId: uuid("workspace_id").notNull(),
    day: date().notNull(),
    reviewKind: text("review_kind").$type<ReviewKind>().notNull(),
    /** Logical name; empty for runs whose model is not known. */
    model: text().notNull(),
    runs: integer().notNull(),
    failedRuns: integer("failed_runs").notNull(),
    modelCalls: number("model_calls").notNull(),
    inputTokens: number("input_tokens").notNull(),
    outputTokens: number("output_tokens").notNull(),
    costUsd: doublePrecision("cost_usd").notNull(),
    unpricedRuns: integer("unpriced_runs").notNull(),
  },
  (table) => [primaryKey({ columns: [table.workspaceId, table.day, table.reviewKind, table.model] })],
)

export const auditLog = pgTable("audit_log", {
  id: uuid().primaryKey(),
  workspaceId: uuid("workspace_id"),
  actor: text().notNull(),
  action: text().notNull(),
  subject: text().notNull(),
  details: jsonb().$type<Record<string, unknown>>().notNull().default({}),
  at: at("at").notNull().defaultNow(),
})
