import { GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import type { Capability, Lease } from "@galley/contract/protocol"
import { type PrewarmedPrAgent, startPrewarmed } from "@galley/engine/prewarmed"
import { sweepJobRoot } from "@galley/sandbox/job-directory"
import { makeSlots, type Slot } from "@galley/sandbox/slot"
import { sweepSlot } from "@galley/sandbox/sweep"
import type { Logger } from "pino"
import type { RunnerConfig } from "./config.ts"
import { isOwnFault } from "./is-retryable.ts"
import { performReview } from "./perform-review.ts"
import { dateProofs, PROOF_RENEWAL_MS, type Proof, proveCapabilities } from "./prove-capabilities.ts"
import { runSlots } from "./run-slots.ts"
import { connectServer } from "./server-client.ts"
import { workOnLease } from "./work-on-lease.ts"

export const RUNNER_VERSION = "0.1.0"

/** After the drain time: for ending engines and telling the server. */
const LAST_WORDS_MS = 10_000

type SlotState = { proofs: readonly Proof[]; provedAt: number; prewarmed: PrewarmedPrAgent | null; ownFault: GalleyErrorCode | null }

/**
 * The unprivileged runner: sweeps what an earlier one left, proves its slots, then leases and works until `stopping`. Running reviews may go
 * on for the drain time; then their jobs are given back. An ephemeral one also ends after its first job.
 *
 * @throws the code of an ephemeral runner's own fault, for which its job was given back, the code with which the server refuses it, and
 * `boundary_unavailable` when it proves nothing
 */
export async function runRunner(config: RunnerConfig, stopping: AbortSignal, log: Logger): Promise<void> {
  const slots = makeSlots(config.slots, config.slotBase)
  const server = connectServer(config.serverUrl, config.token)
  const stop = { giveBack: abortedAfter(stopping, config.drainMs), silence: abortedAfter(stopping, config.drainMs + LAST_WORDS_MS) }
  await sweepJobRoot(config.jobsDirectory, slots, config.boundary)
  const proofs = await proveCapabilities(config, slots, stopping, log)
  log.info({ slots: slots.length, boundary: config.boundary, kinds: proofs.map(({ kind }) => kind) }, "runner ready")
  const proved = { proofs, provedAt: performance.now(), prewarmed: null, ownFault: null }
  const states = new Map<Slot, SlotState>(slots.map((slot) => [slot, { ...proved }]))
  const stateOf = (slot: Slot): SlotState => {
    const state = states.get(slot)
    if (state === undefined) throw new Error(`slot ${slot.index} is not one of this runner's`)
    return state
  }

  const prove = async (slot: Slot): Promise<readonly Capability[]> => {
    const state = stateOf(slot)
    if (state.proofs.length === 0 || performance.now() - state.provedAt > PROOF_RENEWAL_MS) {
      await state.prewarmed?.close()
      await sweepSlot(slot, config.boundary)
      state.proofs = await proveCapabilities(config, [slot], stopping, log)
      state.provedAt = performance.now()
    }
    await prewarm(slot, state)
    return dateProofs(state.proofs, performance.now() - state.provedAt)
  }
  /** An idle slot keeps a PR-Agent that has loaded everything: a start takes seconds, a review on a warm one a fifth of a second. */
  const prewarm = async (slot: Slot, state: SlotState) => {
    const wanted = state.proofs.some(({ kind }) => kind === "diff")
    if (wanted && state.prewarmed?.usable() !== true) {
      await state.prewarmed?.close()
      state.prewarmed = await startPrewarmed(slot, config.boundary, { path: config.prefix })
    }
  }
  const work = async (lease: Lease, slot: Slot) => {
    const state = stateOf(slot)
    const prewarmed = state.prewarmed
    state.prewarmed = null
    const jobLog = log.child({ jobId: lease.job.id, leaseId: lease.leaseId, kind: lease.job.kind, slot: slot.index })
    jobLog.info({ attempt: lease.attempt, headSha: lease.job.headSha }, "review started")
    const failure = await workOnLease(
      lease,
      server,
      (own, progress, signal) => performReview({ config, server, slot, prewarmed }, own, progress, signal),
      stop,
      jobLog,
    )
    if (failure === null || !isOwnFault(failure)) return
    state.proofs = []
    state.ownFault = failure
  }
  try {
    await runSlots({
      slots,
      runnerName: config.name,
      runnerVersion: RUNNER_VERSION,
      server,
      prove,
      work,
      once: config.ephemeral,
      stopping,
      log,
    })
    for (const { ownFault } of states.values()) {
      if (config.ephemeral && ownFault !== null) throw new GalleyError(ownFault, "the job was given back: this runner is not fit for it")
    }
  } finally {
    for (const state of states.values()) await state.prewarmed?.close()
    await server.close()
    log.info("runner stopped")
  }
}

function abortedAfter(signal: AbortSignal, ms: number): AbortSignal {
  const late = new AbortController()
  signal.addEventListener("abort", () => setTimeout(() => late.abort(), ms).unref())
  return late.signal
}
