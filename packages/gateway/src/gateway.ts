import type { Checkout } from "@galley/checkout/checkout"
import type { GalleyErrorCode } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { Credentials, PullRequestFacts } from "@galley/contract/protocol"
import type { Usage } from "@galley/contract/usage"

/** The only model id an engine may ask for; the gateway puts the workspace's upstream id in its place. */
export const NEUTRAL_MODEL = "review"

/** What the GitHub shim serves PR-Agent; nothing is forwarded to GitHub. */
export type ShimJob = Readonly<{
  pullRequest: PullRequestFacts
  checkout: Checkout
  botLogin: string
  /** Body of the one comment PR-Agent finds and would edit: its marker and its earlier findings. */
  stateComment: string
}>

export type GatewayOptions = Readonly<{
  /** Port on 127.0.0.1; 0 = any. */
  port: number
  /** Per-job token an engine must send as Bearer (model) or token (shim). */
  token: string
  model: Credentials["model"]
  /** Secrets known by value (model key, GitHub token): redacted from everything that passes. */
  knownSecrets: readonly string[]
  limits: JobLimits
  /** Usage of earlier attempts; budgets go on from there. */
  usageSoFar: Usage
  /** Dynamic Review: tools an engine may be told to call, and the export root that read paths must stay in. Null for Diff Review: no tools at all. */
  tools: Readonly<{ allowed: readonly string[]; resultTool: string; treePath: string }> | null
  shim: ShimJob | null
  /** Called after each settled model call. */
  onUsage?: (usage: Usage) => void
}>

/** The first thing that went wrong inside the gateway, which explains whatever the engine then reports. */
export type GatewayVerdict = Readonly<{ code: GalleyErrorCode; message: string }>

export type ShimWrite = Readonly<{ method: "POST" | "PATCH"; path: string; body: string }>

export type Gateway = Readonly<{
  /** `http://127.0.0.1:<port>`: model below `/v1`, GitHub shim at the root. */
  url: string
  /** This attempt only (without `usageSoFar`). */
  usage(): Usage
  verdict(): GatewayVerdict | null
  /** Finish reason of every model answer, in order. */
  finishReasons(): readonly string[]
  /** Repository paths (relative to the export) whose content reached the model through tools. */
  examinedPaths(): readonly string[]
  shimWrites(): readonly ShimWrite[]
  /** Shim calls answered with an error, as `METHOD path -> status`. */
  shimFailures(): readonly string[]
  /**
   * What was refused without ending the job: requests at the door (wrong token, path, method or form) as `METHOD path -> status`, the first
   * 100, then tool paths that led elsewhere as `<tool> -> outside the export`.
   */
  refusals(): readonly string[]
  close(): Promise<void>
}>
