import type { Checkout } from "@galley/checkout/checkout"
import type { Credentials, Lease } from "@galley/contract/protocol"
import type { JobDirectory } from "@galley/sandbox/job-directory"
import type { Slot } from "@galley/sandbox/slot"
import type { RunnerConfig } from "./config.ts"
import type { RunProgress } from "./work-on-lease.ts"

/** Where an engine works. */
export type EnginePlace = Readonly<{ config: Pick<RunnerConfig, "boundary" | "prefix">; slot: Slot }>

/** A job that is ready for its engine. */
export type PreparedJob = Readonly<{
  lease: Lease
  credentials: Credentials
  checkout: Checkout
  directory: JobDirectory
  /** The engine's only secret: it opens the gateway and nothing else. */
  token: string
  progress: RunProgress
}>

/** What is redacted from prompts and findings, wherever it stands. */
export const secretsOf = (credentials: Credentials): string[] => [credentials.githubToken, credentials.model.apiKey]
