import type { Credential } from "./credential.ts"

const HOUR_MS = 3_600_000
const ANONYMOUS_PER_HOUR = 60

/** One caller's count in the current hour; `resetAtSeconds` is seconds since the epoch. */
export type Rate = Readonly<{ limit: number; used: number; remaining: number; resetAtSeconds: number }>

/** Counts REST calls per caller and hour. */
export type RateLimits = Readonly<{
  /** Counts one call. `allowed` is false when the hour's calls were spent before it. */
  spend(credential: Credential): { rate: Rate; allowed: boolean }
  read(credential: Credential): Rate
}>

/**
 * @param perHour calls an authenticated caller has an hour
 * @param now milliseconds since the epoch
 */
export function createRateLimits(perHour: number, now: () => number): RateLimits {
  const windows = new Map<string, { used: number; resetAtMs: number }>()
  const windowOf = (credential: Credential) => {
    const caller = callerOf(credential)
    const open = windows.get(caller)
    if (open && open.resetAtMs > now()) return open
    const fresh = { used: 0, resetAtMs: now() + HOUR_MS }
    windows.set(caller, fresh)
    return fresh
  }
  const read = (credential: Credential): Rate => {
    const limit = credential.kind === "none" ? ANONYMOUS_PER_HOUR : perHour
    const { used, resetAtMs } = windowOf(credential)
    return { limit, used, remaining: Math.max(0, limit - used), resetAtSeconds: Math.ceil(resetAtMs / 1000) }
  }
  return {
    read,
    spend(credential) {
      const allowed = read(credential).remaining > 0
      if (allowed) windowOf(credential).used += 1
      return { rate: read(credential), allowed }
    },
  }
}

/** What the limit is counted for, in the words of GitHub's message. */
export function callerOf(credential: Credential): string {
  if (credential.kind === "installation") return `installation ID ${credential.installation.id}`
  if (credential.kind === "user") return `user ID ${credential.account.id}`
  return credential.kind === "app" ? "the app" : "127.0.0.1"
}

export function rateHeaders(rate: Rate): Record<string, string> {
  return {
    "x-ratelimit-limit": String(rate.limit),
    "x-ratelimit-remaining": String(rate.remaining),
    "x-ratelimit-used": String(rate.used),
    "x-ratelimit-reset": String(rate.resetAtSeconds),
    "x-ratelimit-resource": "core",
  }
}
