import { errorCode, GalleyError } from "@galley/contract/errors"
import { MAX_RESULT_BYTES } from "@galley/contract/limits"
import { Heartbeat, type Lease, LeaseFailure, LeaseRequest, LeaseResult, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { type ClaimedLease, findLease, type LeaseFacts } from "@galley/store/queue/claim-jobs"
import { openCompletion } from "@galley/store/queue/complete-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import type { LeaseProof } from "@galley/store/queue/lease-token"
import { releaseJob } from "@galley/store/queue/release-job"
import { touchRunner } from "@galley/store/runners/touch-runner"
import { type Context, Hono } from "hono"
import type { ServerContext } from "../context.ts"
import { limitBody } from "../http/limit-body.ts"
import { requireLeaseProof, requireRunner } from "./authenticate.ts"
import { checkFence, checkResult } from "./check-result.ts"
import { checkRunnerVersion, isRunnerTooOld } from "./check-runner-version.ts"
import { endAttempt } from "./end-attempt.ts"
import { endBeforeStart } from "./end-before-start.ts"
import { grantCredentials, grantLease } from "./grant-lease.ts"
import type { LeaseDesk } from "./lease-desk.ts"
import { provenNow } from "./proven-now.ts"
import { readMessage } from "./read-message.ts"
import { shiftProofs } from "./shift-proofs.ts"

/** Runner protocol v1; `@galley/contract/protocol` describes it. */
export function runnerRoutes(context: ServerContext, desk: LeaseDesk): Hono {
  const { store, log } = context
  const completeJob = openCompletion(store)
  const app = new Hono().basePath(RUNNER_PROTOCOL_PATH)
  app.use(limitBody(MAX_RESULT_BYTES, "result_too_large"))

  /**
   * The whole lease; null when it ended before its runner heard of it: GitHub was in the way, or the runner left. A token that ended while
   * the poll waited gets nothing either.
   */
  const grant = async (claimed: ClaimedLease, c: Context): Promise<Lease | null> => {
    const { signal } = c.req.raw
    let lease: Lease | null = null
    try {
      if (!signal.aborted) [lease] = await Promise.all([grantLease(context, claimed), requireRunner(context, c)])
    } catch (error) {
      if (errorCode(error) === "runner_unauthorized") {
        await releaseJob(store, claimed)
        throw error
      }
      await endBeforeStart(context, claimed, error)
      return null
    }
    if (lease === null || signal.aborted) {
      await releaseJob(store, claimed)
      return null
    }
    log.info({ jobId: claimed.jobId, leaseId: claimed.leaseId, kind: claimed.kind, attempt: claimed.attempt }, "job leased")
    return lease
  }
  const requireLease = async (proof: LeaseProof): Promise<LeaseFacts> => {
    const facts = await findLease(store.sql, proof)
    if (facts === null) throw new GalleyError("lease_lost", "the lease ended or was given away")
    return facts
  }

  app.post("/leases", async (c) => {
    const runner = await requireRunner(context, c)
    const request = await readMessage(c, LeaseRequest)
    const { runnerName: name, runnerVersion: version } = request
    // Seen also when it is refused: the pages then tell its version. What it proved counts for nothing until it is updated.
    const proofs = isRunnerTooOld(version) ? [] : request.capabilities
    const capabilities = shiftProofs(proofs, c.req.header("date"), runner.now)
    await touchRunner(store, runner, { name, version, capabilities })
    checkRunnerVersion(version)
    if (runner.paused) throw new GalleyError("runner_paused", "an operator paused this runner")
    const claim = {
      requestId: request.requestId,
      runnerId: runner.id,
      workspaceId: runner.workspaceId,
      kinds: provenNow(capabilities, runner.now).map(({ kind }) => kind),
    }
    const claimed = await desk.wait(claim, request.waitMs, c.req.raw.signal)
    const lease = claimed === null ? null : await grant(claimed, c)
    return lease === null ? c.body(null, 204) : c.json(lease)
  })

  app.post("/leases/:id/credentials", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    return c.json(await grantCredentials(context, await requireLease(proof)))
  })

  app.post("/leases/:id/heartbeat", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    return c.json({ action: await heartbeat(store, proof, await readMessage(c, Heartbeat)) })
  })

  app.post("/leases/:id/result", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    const result = await readMessage(c, LeaseResult)
    const leased = await findLease(store.sql, proof)
    // Without a lease it can only be the result that ended it, sent again.
    if (leased !== null) checkResult(result, leased)
    await completeJob(proof, result)
    return c.json({})
  })

  app.post("/leases/:id/failure", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    const { fence, ...failure } = await readMessage(c, LeaseFailure)
    const leased = await requireLease(proof)
    checkFence(fence, leased)
    await endAttempt(store, proof, leased.attempt, failure)
    return c.json({})
  })

  app.post("/leases/:id/release", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    await releaseJob(store, proof)
    return c.json({})
  })
  return app
}
