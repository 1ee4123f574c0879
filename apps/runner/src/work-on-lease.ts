import { errorCode, GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import type { Heartbeat, Lease, LeaseFailure, LeaseResult, RunPhase } from "@galley/contract/protocol"
import { noUsage, type Usage } from "@galley/contract/usage"
import { redact } from "@galley/redaction/redact"
import type { Logger } from "pino"
import { isOwnFault, isRetryable } from "./is-retryable.ts"
import { keepLease, LeaseEnded } from "./keep-lease.ts"
import type { ServerClient } from "./server-client.ts"

/** What a run reports while it works; heartbeats carry it to the server. */
export type RunProgress = { phase: RunPhase; usage: Usage }

export type Review = (lease: Lease, progress: RunProgress, signal: AbortSignal) => Promise<LeaseResult>

/** How a runner that was asked to stop ends its jobs. */
export type StopSignals = Readonly<{
  /** The grace time is over: running reviews end and their jobs are given back. */
  giveBack: AbortSignal
  /** A little later: nothing more is said to the server. */
  silence: AbortSignal
}>

const MAX_DETAIL_CHARACTERS = 500

/**
 * Works on one lease from its first heartbeat to the hand-over of a result or a failure. The job is given back when the runner stops, and
 * when the server wants this attempt no more: the server then decides what becomes of it. Never throws: whatever happens is logged and, as
 * long as the lease is ours, told to the server.
 *
 * @returns the code of a review that failed, else null
 */
export async function workOnLease(
  lease: Lease,
  server: ServerClient,
  review: Review,
  stop: StopSignals,
  log: Logger,
): Promise<GalleyErrorCode | null> {
  const progress: RunProgress = { phase: "preparing", usage: noUsage }
  const kept = keepLease(lease, (signal) => server.heartbeat(lease, beatOf(progress), signal))
  const deadline = AbortSignal.timeout(lease.limits.jobTimeoutMs)
  const working = AbortSignal.any([kept.signal, deadline, stop.giveBack])
  // A server that never accepts the end of a lease must not hold the slot for ever.
  const handOver = () => AbortSignal.any([stop.silence, AbortSignal.timeout(lease.leaseMs)])
  try {
    const result = await reviewInTime()
    progress.phase = "handing_over"
    await server.result(lease, result, AbortSignal.any([kept.signal, handOver()]))
    log.info({ outcome: result.outcome, ...result.usage }, "result handed over")
    return null
  } catch (error) {
    return await endWithoutResult(error)
  } finally {
    await kept.stop()
  }

  async function reviewInTime(): Promise<LeaseResult> {
    try {
      return await review(lease, progress, working)
    } catch (error) {
      if (!deadline.aborted || working.reason !== deadline.reason) throw error
      throw new GalleyError("job_timeout", "the job took longer than its time limit", { cause: error })
    }
  }

  async function endWithoutResult(error: unknown): Promise<GalleyErrorCode | null> {
    const { reason } = kept.signal
    const end = reason instanceof LeaseEnded ? reason.end : null
    const code = errorCode(error)
    if (end === "lease_lost" || code === "lease_lost") {
      log.warn("lease lost; the work was dropped")
      return null
    }
    // A fault of this runner is no fault of the job: another one may do it, and no attempt is counted.
    const unwanted = end !== null || stop.giveBack.aborted || isOwnFault(code)
    try {
      if (unwanted) {
        await server.release(lease, beatOf(progress), handOver())
        log.warn({ reason: end ?? (stop.giveBack.aborted ? "stop" : code), err: isOwnFault(code) ? error : undefined }, "job given back")
      } else {
        const failure = failureOf(error, lease, progress.usage)
        log.warn({ code, retryable: failure.retryable, err: error }, "review failed")
        await server.failure(lease, failure, handOver())
      }
    } catch (handOverError) {
      // Nothing is lost: the server takes the job back when the lease runs out.
      log.error({ code: errorCode(handOverError), err: handOverError }, "the end of the lease could not be told")
    }
    return unwanted && !isOwnFault(code) ? null : code
  }
}

function beatOf({ phase, usage }: RunProgress): Heartbeat {
  return { phase, progress: `${usage.modelCalls} model calls`, usage }
}

function failureOf(error: unknown, lease: Lease, usage: Usage): LeaseFailure {
  const code = errorCode(error)
  const detail = error instanceof GalleyError ? redact(error.message, []).text : "a fault nobody foresaw; see the runner's log"
  return { fence: lease.fence, code, detail: detail.slice(0, MAX_DETAIL_CHARACTERS), retryable: isRetryable(code), usage }
}
