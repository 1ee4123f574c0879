import { hash } from "node:crypto"
import { GalleyError } from "@galley/contract/errors"
import type { LeaseResult } from "@galley/contract/protocol"
import { createBatcher } from "../batch.ts"
import type { Query, Store } from "../database.ts"
import { toJson } from "../json.ts"
import { taskQueues } from "../tasks.ts"
import { inTransaction, wakeJobs, wakeRuns } from "../transaction.ts"
import { hashToken, type LeaseProof } from "./lease-token.ts"

interface HandedOver {
  proof: LeaseProof
  result: LeaseResult
}

type Completion = { leaseId: string } & (
  | { answer: "stored"; jobId: string; workspaceId: string; jobState: "publishing" | "skipped" | "cancelled" }
  | { answer: "repeated" | "lease_lost" | "result_conflict" }
)

/**
 * Keeps a result durably and ends the lease, so that the model is never paid twice. A review turns the job `publishing` and stores its
 * publication task in the same transaction; a skipped review ends it, and so does any result of a job that a person stopped. The same result
 * again changes nothing. Throws `lease_lost` for a stale lease or fence, `result_conflict` for another result of a lease that already has one.
 *
 * @returns false when this result was already stored
 */
export type CompleteJob = (proof: LeaseProof, result: LeaseResult) => Promise<boolean>

/** A result may have 1 MiB, and one call carries all of them. */
const MAX_TOGETHER = 16

/** Results that come at the same time share round trips and a commit. */
export function openCompletion(store: Store): CompleteJob {
  const complete = createBatcher<HandedOver, Completion>(
    (results) => completeJobs(store, results),
    ({ proof }) => proof.leaseId.toLowerCase(),
    MAX_TOGETHER,
  )
  return async (proof, result) => answerOf(await complete({ proof, result }))
}

/** `CompleteJob` for one result alone. */
export async function completeJob(store: Store, proof: LeaseProof, result: LeaseResult): Promise<boolean> {
  const [completion] = await completeJobs(store, [{ proof, result }])
  if (completion === undefined) throw new Error("a result has an answer")
  return answerOf(completion)
}

function answerOf({ answer }: Completion): boolean {
  if (answer === "lease_lost") throw new GalleyError("lease_lost", "the lease ended or was given away")
  if (answer === "result_conflict") throw new GalleyError("result_conflict", "this lease already has another result")
  return answer === "stored"
}

/** The answers in the order of the results. What sends no publication is one statement, which commits by itself. */
async function completeJobs(store: Store, handedOver: readonly HandedOver[]): Promise<Completion[]> {
  const completions = handedOver.some(({ result }) => result.outcome === "reviewed")
    ? await inTransaction(store, async (tx) => {
        const ended = await endLeases(tx.sql, handedOver)
        const published = ended.filter((one) => one.answer === "stored").filter(({ jobState }) => jobState === "publishing")
        await tx.sendTasks(
          taskQueues.publishComment,
          published.map(({ jobId, workspaceId }) => ({ jobId, workspaceId })),
        )
        return ended
      })
    : await endLeases(store.sql, handedOver)
  const stored = completions.filter((one) => one.answer === "stored")
  for (const { workspaceId, leaseId } of stored) wakeRuns(store, workspaceId, leaseId)
  // The workspace has room again, and where nothing is published the pull request too.
  if (stored.length > 0) wakeJobs(store, 0)
  const byLease = new Map(completions.map((completion) => [completion.leaseId, completion]))
  return handedOver.map(({ proof }) => byLease.get(proof.leaseId.toLowerCase()) ?? lost(proof))
}

function endLeases(sql: Query, handedOver: readonly HandedOver[]): Promise<Completion[]> {
  return sql<Completion[]>`
    select lease_id as "leaseId", answer, job_id as "jobId", workspace_id as "workspaceId", job_state as "jobState"
    from complete_reviews(${sql.json(toJson(handedOver.map(rowOf)))})`
}

const lost = ({ leaseId }: LeaseProof): Completion => ({ leaseId, answer: "lease_lost" })

/** A result in the words of the SQL function. */
function rowOf({ proof, result }: HandedOver) {
  const review = result.outcome === "reviewed" ? result : null
  return {
    leaseId: proof.leaseId.toLowerCase(),
    runnerId: proof.runnerId,
    tokenHash: hashToken(proof.leaseToken).toString("hex"),
    fence: result.fence,
    outcome: result.outcome,
    code: result.outcome === "skipped" ? result.code : null,
    usage: result.usage,
    digest: hash("sha256", JSON.stringify(result)),
    state: review?.state ?? null,
    findings: review?.findings ?? [],
    coverage: result.coverage,
    trace: result.trace,
    comment: review?.comment ?? null,
  }
}
