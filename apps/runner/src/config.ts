import { hostname } from "node:os"
import { HttpAddress, integerFromText, parseConfiguration, RunnerToken } from "@galley/contract/configuration"
import { ReviewKind } from "@galley/contract/settings"
import { DEFAULT_RUNNER_UID } from "@galley/sandbox/drop"
import { defaultSlotBase } from "@galley/sandbox/slot"
import { z } from "zod"

const Directory = z.string().startsWith("/", "expected an absolute path")

/** The runner's environment; `.env.example` explains each variable. */
const RunnerVariables = z.object({
  GALLEY_SERVER_URL: HttpAddress,
  GALLEY_RUNNER_TOKEN: RunnerToken,
  GALLEY_RUNNER_NAME: z.string().max(100).default(hostname()),
  GALLEY_RUNNER_SLOTS: integerFromText(1, 64).default(1),
  GALLEY_RUNNER_EPHEMERAL: z.stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] }).default(false),
  GALLEY_RUNNER_KINDS: z
    .string()
    .default("diff,dynamic")
    .transform((text) => text.split(",").map((kind) => kind.trim()))
    .pipe(z.array(ReviewKind).min(1)),
  GALLEY_BOUNDARY: z.enum(["enforced", "demo"]).default("enforced"),
  GALLEY_PREFIX: Directory.default("/opt/galley"),
  GALLEY_JOBS_DIRECTORY: Directory.default("/var/lib/galley/jobs"),
  GALLEY_RUNNER_UID: integerFromText(1, 2_000_000_000).default(DEFAULT_RUNNER_UID),
  GALLEY_SLOT_UID: integerFromText(1, 2_000_000_000).default(defaultSlotBase.uid),
  GALLEY_GATEWAY_PORT: integerFromText(1_024, 65_000).default(defaultSlotBase.gatewayPort),
  GALLEY_CONTROL_PORT: integerFromText(1_024, 65_000).default(defaultSlotBase.controlPort),
  GALLEY_DRAIN_SECONDS: integerFromText(0, 3_600).default(20),
  LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
})

const RunnerEnvironment = RunnerVariables.refine((env) => !env.GALLEY_RUNNER_EPHEMERAL || env.GALLEY_RUNNER_SLOTS === 1, {
  path: ["GALLEY_RUNNER_SLOTS"],
  message: "an ephemeral runner has one slot",
})

export type RunnerConfig = Readonly<{
  serverUrl: string
  token: string
  name: string
  slots: number
  /** Ends after one job. */
  ephemeral: boolean
  kinds: readonly ReviewKind[]
  boundary: "enforced" | "demo"
  prefix: string
  jobsDirectory: string
  runnerUid: number
  slotBase: Readonly<{ uid: number; gatewayPort: number; controlPort: number }>
  /** How long running jobs may go on after SIGTERM before they are given back, in milliseconds. */
  drainMs: number
  logLevel: string
}>

/** @throws `config_invalid` with every missing or wrong variable */
export function readRunnerConfig(environment: Readonly<Record<string, string | undefined>>): RunnerConfig {
  const env = parseConfiguration(RunnerEnvironment, environment)
  return {
    serverUrl: env.GALLEY_SERVER_URL,
    token: env.GALLEY_RUNNER_TOKEN,
    name: env.GALLEY_RUNNER_NAME,
    slots: env.GALLEY_RUNNER_SLOTS,
    ephemeral: env.GALLEY_RUNNER_EPHEMERAL,
    kinds: env.GALLEY_RUNNER_KINDS,
    boundary: env.GALLEY_BOUNDARY,
    prefix: env.GALLEY_PREFIX,
    jobsDirectory: env.GALLEY_JOBS_DIRECTORY,
    runnerUid: env.GALLEY_RUNNER_UID,
    slotBase: { uid: env.GALLEY_SLOT_UID, gatewayPort: env.GALLEY_GATEWAY_PORT, controlPort: env.GALLEY_CONTROL_PORT },
    drainMs: env.GALLEY_DRAIN_SECONDS * 1_000,
    logLevel: env.LOG_LEVEL,
  }
}

/** What the dropped runner keeps of its supervisor's environment: its own configuration and nothing else. */
export function environmentOfRunner(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [...Object.keys(RunnerVariables.shape), "PATH", "LANG", "NODE_EXTRA_CA_CERTS", "TZ"]
  return Object.fromEntries(names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])))
}
