import type { Lease } from "@galley/contract/protocol"
import type { RunnerVerbId } from "@galley/contract/runner-openapi"
import { noUsage, type Usage } from "@galley/contract/usage"
import { carryOver } from "./carry-over.ts"
import { isoAfter } from "./lease-request.ts"

export type LeaseVerb = Exclude<RunnerVerbId, "lease">

export const leaseVerbs: readonly LeaseVerb[] = ["credentials", "heartbeat", "result", "failure", "release"]

export const beat = (usage: Partial<Usage> = {}) => ({
  phase: "reviewing",
  progress: "a check",
  usage: { ...noUsage, ...usage },
})

export const failureOf = (lease: Lease, over: object = {}) => ({
  fence: lease.fence,
  code: "engine_failed",
  detail: "a check",
  retryable: true,
  usage: noUsage,
  ...over,
})

export const resultOf = (lease: Lease, over: object = {}) => ({ ...carryOver(lease, isoAfter(0)), ...over })

/** A body that fits a verb. */
export function bodyOf(verb: LeaseVerb, lease: Lease): object {
  if (verb === "heartbeat") return beat()
  if (verb === "failure") return failureOf(lease)
  return verb === "result" ? resultOf(lease) : {}
}
