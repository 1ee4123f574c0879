import type { FindingState } from "@galley/contract/finding"
import { ProjectSettings, type ReviewKind } from "@galley/contract/settings"
import type { Usage } from "@galley/contract/usage"
import { uuidv7 } from "uuidv7"
import type { Query, Store } from "../database.ts"
import { addUsage } from "../runs/add-usage.ts"
import { wakeRuns } from "../transaction.ts"
import { hashToken, leaseToken } from "./lease-token.ts"

/** One waiting poll of a runner. */
export interface ClaimRequest {
  /** The runner's own id for the request: asked again, it gets the same lease, or nothing once that lease ended. */
  requestId: string
  runnerId: string
  /** Only jobs of this workspace; null for a runner that works for all. */
  workspaceId: string | null
  /** Kinds the runner proved. */
  kinds: readonly ReviewKind[]
}

/** Everything a lease needs, apart from credentials. */
export interface LeaseFacts {
  leaseId: string
  fence: number
  attempt: number
  workspaceId: string
  runnerId: string
  jobId: string
  kind: ReviewKind
  headSha: string
  baseSha: string
  project: {
    id: string
    owner: string
    name: string
    gitUrl: string
    settings: ProjectSettings
    githubRepositoryId: number
  }
  installation: { hostId: string; githubInstallationId: number }
  pullRequest: {
    id: string
    number: number
    title: string
    description: string
    author: string
    baseRef: string
    headRef: string
    webUrl: string
  }
  /** Head of the last published review. */
  lastReviewedSha: string | null
  commentId: number | null
  /** The state as last published; a comment that differs was tampered with. */
  publishedState: FindingState | null
  /** SHA-256 in hex of the published state. */
  publishedDigest: string | null
  /** Of earlier attempts at the same job. */
  usageSoFar: Usage
}

export interface ClaimedLease extends LeaseFacts {
  requestId: string
  leaseToken: string
}

export const LEASE_MS = 60_000

/**
 * Leases jobs to waiting runners, in their order, in one round trip: proven kinds, no busy pull request, the workspace's cap exactly,
 * workspaces by turns, then priority and age. Leases that ran out are settled by the way. Requests that get nothing are absent from the
 * answer, as are those of runners that were paused or removed; one that comes twice gets one lease.
 */
export async function claimJobs(
  store: Store,
  requests: readonly ClaimRequest[],
  options: { leaseMs?: number } = {},
): Promise<ClaimedLease[]> {
  if (requests.length === 0) return []
  // Postgres answers ids in small letters.
  const distinct = new Map(requests.map((request) => [request.requestId.toLowerCase(), request]))
  const tokens = new Map([...distinct].map(([requestId, { runnerId }]) => [requestId, leaseToken(store.leaseKey, runnerId, requestId)]))
  const parameter = [...distinct].map(([requestId, request]) => ({
    ...request,
    requestId,
    // Sorted: the function compares and names the list as it is written.
    kinds: [...new Set(request.kinds)].toSorted(),
    runId: uuidv7(),
    tokenHash: hashToken(tokens.get(requestId) ?? "").toString("hex"),
  }))
  const rows = await store.sql<{ requestId: string; lease: LeaseRow }[]>`
    select request_id as "requestId", lease from claim_review_jobs(${store.sql.json(parameter)}, ${options.leaseMs ?? LEASE_MS})`
  return rows.map(({ requestId, lease }) => {
    wakeRuns(store, lease.workspaceId, lease.leaseId)
    return { ...leaseFacts(lease), requestId, leaseToken: tokens.get(requestId) ?? "" }
  })
}

/** The facts of a lease that holds; null when it ended, was given away, or the proof is wrong. */
export async function findLease(sql: Query, proof: { leaseId: string; leaseToken: string; runnerId: string }): Promise<LeaseFacts | null> {
  const [row] = await sql<[{ lease: LeaseRow }?]>`
    select f.lease from review_runs r join review_jobs j on j.id = r.job_id and j.run_id = r.id, review_lease_facts(array[r.id]) f
    where r.id = ${proof.leaseId} and r.runner_id = ${proof.runnerId} and j.state = 'running'
      and j.lease_token_hash = ${hashToken(proof.leaseToken)} and j.lease_expires_at > clock_timestamp()`
  return row ? leaseFacts(row.lease) : null
}

/** As the SQL function builds it. */
interface LeaseRow extends Omit<LeaseFacts, "project" | "usageSoFar"> {
  project: Omit<LeaseFacts["project"], "settings"> & { settings: unknown }
  earlierUsage: Partial<Usage>[]
}

function leaseFacts({ earlierUsage, ...row }: LeaseRow): LeaseFacts {
  const project = { ...row.project, settings: ProjectSettings.parse(row.project.settings) }
  return { ...row, project, usageSoFar: addUsage(earlierUsage) }
}
