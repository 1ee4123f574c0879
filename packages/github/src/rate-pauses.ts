import { GalleyError } from "@galley/contract/errors"

/** Until when GitHub asked not to be called, for each installation. */
export type RatePauses = Readonly<{
  /** @throws `github_rate_limited` (details `retryAfterSeconds`) while the pause lasts: whoever asks all the same is kept out longer */
  check(installationId: number): void
  /** Begins a pause when the fault is a rate limit. */
  note(installationId: number, fault: unknown): void
}>

export function createRatePauses(nowMs: () => number = () => performance.now()): RatePauses {
  const untilMs = new Map<number, number>()
  return {
    check(installationId) {
      const leftMs = (untilMs.get(installationId) ?? 0) - nowMs()
      if (leftMs <= 0) return
      const retryAfterSeconds = Math.ceil(leftMs / 1_000)
      throw new GalleyError("github_rate_limited", "GitHub asked to wait", { details: { retryAfterSeconds } })
    },
    note(installationId, fault) {
      if (!(fault instanceof GalleyError) || fault.code !== "github_rate_limited") return
      untilMs.set(installationId, nowMs() + Number(fault.details.retryAfterSeconds) * 1_000)
    },
  }
}
