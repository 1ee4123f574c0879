import { errorCode, GalleyError } from "@galley/contract/errors"
import type { Lease, LeaseFailure, LeaseResult, RunPhase } from "@galley/contract/protocol"
import type { Usage } from "@galley/contract/usage"
import { noUsage } from "@galley/contract/usage"
import type { Logger } from "pino"
import { isRetryable } from "./is-retryable.ts"
import { keepLease, LeaseEnded } from "./keep-lease.ts"
import type { ServerClient } from "./server-client.ts"

/** What a run reports while it works; heartbeats carry it to the server. */
export type RunProgress = { phase: RunPhase; usage: Usage }

export type Review = (lease: Lease, progress: RunProgress, signal: AbortSignal) => Promise<LeaseResult>

const MAX_DETAIL_CHARACTERS = 500

function failureOf(error: unknown, lease: Lease, usage: Usage): LeaseFailure {
  const code = errorCode(error)
  const detail =
    error instanceof GalleyError ? error.message.slice(0, MAX_DETAIL_CHARACTERS) : "a fault nobody foresaw; see the runner's log"
  return { fence: lease.fence, code, detail, retryable: isRetryable(code), usage }
}

/**
 * Works on one lease from its first heartbeat to the hand-over of a result or a failure. Never throws: whatever happens is logged and, as long
 * as the lease is ours, told to the server.
 *
 * @param stop aborts when the runner is asked to stop and its grace time is over: the job is given back
 */
export async function workOnLease(lease: Lease, server: ServerClient, review: Review, stop: AbortSignal, log: Logger): Promise<void> {
  const progress: RunProgress = { phase: "preparing", usage: noUsage }
  const kept = keepLease(lease, (signal) => {
    const beat = { phase: progress.phase, progress: `${progress.usage.modelCalls} model calls`, usage: progress.usage }
    return server.heartbeat(lease, beat, signal)
  })
  const deadline = AbortSignal.timeout(lease.limits.jobTimeoutMs)
  const signal = AbortSignal.any([kept.signal, deadline, stop])
  try {
    const result = await review(lease, progress, signal)
    progress.phase = "handing_over"
    await server.result(lease, result, AbortSignal.any([kept.signal, stop]))
    log.info({ outcome: result.outcome, ...result.usage }, "result handed over")
  } catch (error) {
    await endWithoutResult(error)
  } finally {
    await kept.stop()
  }

  async function endWithoutResult(error: unknown): Promise<void> {
    if (kept.signal.reason instanceof LeaseEnded && kept.signal.reason.end === "lease_lost") {
      log.warn("lease lost; the work was dropped")
      return
    }
    try {
      if (stop.aborted && !kept.signal.aborted) {
        await server.release(lease, AbortSignal.timeout(5_000))
        log.info("job given back")
        return
      }
      const failure = failureOf(deadline.aborted ? timeoutError(error) : error, lease, progress.usage)
      log.warn({ code: failure.code, retryable: failure.retryable, err: error }, "review failed")
      await server.failure(lease, failure, AbortSignal.any([stop, AbortSignal.timeout(lease.leaseMs)]))
    } catch (handOverError) {
      // Nothing is lost: the server takes the job back when the lease runs out.
      log.error({ code: errorCode(handOverError), err: handOverError }, "the end of the lease could not be told")
    }
  }
}

const timeoutError = (cause: unknown) => new GalleyError("job_timeout", "the job took longer than its time limit", { cause })
