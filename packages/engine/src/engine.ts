import type { Checkout } from "@galley/checkout/checkout"
import type { Omission } from "@galley/contract/coverage"
import type { EngineFinding } from "@galley/contract/finding"
import type { JobLimits } from "@galley/contract/limits"
import type { Lease, RunPhase } from "@galley/contract/protocol"
import type { Gateway } from "@galley/gateway/gateway"
import type { BoundaryMode, Slot } from "@galley/sandbox/slot"

/** Where the installed engines stand (see `scripts/setup`): root-owned below a prefix slot users can reach, or in the checkout's `.galley`. */
export type EnginePrefix = Readonly<{
  /** e.g. `/opt/galley`; holds `opencode/<version>/opencode`, `rg/rg`, `pr-agent/bin/python`, `pr-agent/prewarm.py`. */
  path: string
}>

/** Everything an engine run needs. The engine reads only `checkout.treePath` and talks only to `gateway.url`. */
export type EngineJob = Readonly<{
  lease: Lease
  checkout: Checkout
  gateway: Gateway
  /** The gateway's per-job token. */
  token: string
  slot: Slot
  boundary: BoundaryMode
  prefix: EnginePrefix
  /** Existing directory `scratch` of the job which the slot user may write. */
  scratch: string
  /** Directory of the job owned by the runner and readable by the slot user's group, for generated configuration. */
  runDirectory: string
  limits: JobLimits
  /** Context window and longest answer of the selected model, in tokens. */
  contextTokens: number
  outputTokens: number
  onPhase: (phase: RunPhase) => void
}>

/** What an engine found, before validation against the tree. */
export type EngineReport = Readonly<{
  findings: readonly EngineFinding[]
  /** Diff Review: PR-Agent's own fingerprint per finding (same order); null for Dynamic Review. */
  fingerprints: readonly string[] | null
  /** Ids of prior findings the engine names as resolved (Dynamic Review). */
  resolvedIds: readonly string[]
  /** Ids of prior findings the engine names as still there (Dynamic Review). */
  confirmedIds: readonly string[]
  /** Paths whose content or diff text the model saw. */
  examinedPaths: readonly string[]
  /** Changed paths the engine left out although the checkout offered them. */
  omissions: readonly Omission[]
  /** False when the engine itself says that it saw only a part. */
  complete: boolean
  /** Null when none was started. */
  engine: Readonly<{ name: string; version: string }> | null
}>
