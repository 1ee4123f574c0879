import { createPrivateKey } from "node:crypto"
import { readFileSync } from "node:fs"
import { HttpAddress, integerFromText, isLoopback, parseConfiguration, RunnerToken } from "@galley/contract/configuration"
import { GalleyError } from "@galley/contract/errors"
import { JobLimits } from "@galley/contract/limits"
import { DEFAULT_DYNAMIC_MODEL, ModelName } from "@galley/contract/settings"
import { z } from "zod"

const DatabaseUrl = z.string().regex(/^postgres(?:ql)?:\/\//, "expected a postgres:// address")
const Secret = z.string().min(16, "expected at least 16 characters")
const MasterKey = z.string().refine((text) => Buffer.from(text, "base64").length === 32, "expected 32 bytes in base64")

/** Rules over several variables are checked whatever else is wrong, so that one start names every problem. */
const always = () => true
const staysOnThisMachine = (address: string) => URL.canParse(address) && isLoopback(address)

/** The server's environment; `.env.example` explains each variable. */
const ServerEnvironment = z
  .object({
    DATABASE_URL: DatabaseUrl,
    GALLEY_PUBLIC_URL: HttpAddress,
    GALLEY_LISTEN_HOST: z.string().default("127.0.0.1"),
    GALLEY_LISTEN_PORT: integerFromText(0, 65_535).default(8_080),
    GALLEY_MASTER_KEY: MasterKey,
    GALLEY_MASTER_KEY_PREVIOUS: MasterKey.optional(),
    GALLEY_WORKSPACE: z.string().min(1).max(100).default("Default"),
    GALLEY_MAX_RUNNING_JOBS: integerFromText(1, 1_000).default(4),
    GALLEY_JOB_TIMEOUT_SECONDS: integerFromText(10, 3_600).default(600),
    GALLEY_MODEL_IDLE_SECONDS: integerFromText(5, 3_600).default(120),
    GALLEY_WEBHOOK_BODY_SECONDS: integerFromText(1, 60).default(10),
    GALLEY_SCHEDULED_WORK: z.enum(["0", "1"]).default("1"),
    GALLEY_KEEP_DELIVERIES_DAYS: integerFromText(4, 3_650).default(30),
    GALLEY_KEEP_RUNS_DAYS: integerFromText(1, 3_650).default(90),
    GALLEY_KEEP_DEAD_TASKS_DAYS: integerFromText(1, 3_650).default(30),
    GALLEY_MIGRATIONS_DIRECTORY: z.string().startsWith("/", "expected an absolute path").optional(),
    GALLEY_DEMO_LOGIN: z.enum(["0", "1"]).default("0"),
    GALLEY_RUNNER_TOKEN: RunnerToken,
    GITHUB_URL: HttpAddress.default("https://github.com"),
    GITHUB_API_URL: HttpAddress.default("https://api.github.com"),
    GITHUB_APP_ID: integerFromText(1, Number.MAX_SAFE_INTEGER),
    GITHUB_PRIVATE_KEY: z.string().optional(),
    GITHUB_PRIVATE_KEY_FILE: z.string().optional(),
    GITHUB_WEBHOOK_SECRET: Secret,
    GITHUB_WEBHOOK_SECRET_PREVIOUS: Secret.optional(),
    MODEL_BASE_URL: HttpAddress,
    MODEL_API_KEY: z.string().min(1),
    MODEL: ModelName,
    MODEL_LOGICAL_NAME: ModelName.default(DEFAULT_DYNAMIC_MODEL),
    MODEL_CONTEXT_TOKENS: integerFromText(1_000, 10_000_000).default(128_000),
    MODEL_OUTPUT_TOKENS: integerFromText(100, 1_000_000).default(8_192),
    LOG_LEVEL: z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
  })
  .refine((env) => (env.GITHUB_PRIVATE_KEY === undefined) !== (env.GITHUB_PRIVATE_KEY_FILE === undefined), {
    path: ["GITHUB_PRIVATE_KEY"],
    message: "set either GITHUB_PRIVATE_KEY or GITHUB_PRIVATE_KEY_FILE",
    when: always,
  })
  .refine((env) => env.GALLEY_DEMO_LOGIN !== "1" || [env.GALLEY_PUBLIC_URL, `http://${env.GALLEY_LISTEN_HOST}`].every(staysOnThisMachine), {
    path: ["GALLEY_DEMO_LOGIN"],
    message: "the demo login is only for a server that listens on and is reached by a loopback address",
    when: always,
  })

export type ServerConfig = Readonly<{
  databaseUrl: string
  publicUrl: string
  listen: Readonly<{ host: string; port: number }>
  /** Newest first: the first seals, all open. */
  masterKeys: readonly Buffer[]
  workspace: Readonly<{ name: string; maxRunningJobs: number }>
  /** Milliseconds within which a webhook's body must have come. */
  webhookBodyMs: number
  /** Whether this server takes part in the work that the clock starts: reconciler, sums of usage, removal of old rows. */
  scheduledWork: boolean
  /** Days after which deliveries, ended jobs with their runs, and tasks that failed for good are removed. */
  retention: Readonly<{ deliveryDays: number; runDays: number; deadTaskDays: number }>
  /** Bounds of every job. */
  limits: JobLimits
  demoLogin: boolean
  /** Where a bundled server finds its migrations; sources find them by themselves. */
  migrationsDirectory: string | undefined
  runnerToken: string
  github: Readonly<{ webUrl: string; apiUrl: string; appId: number; privateKey: string; webhookSecrets: readonly string[] }>
  model: Readonly<{
    baseUrl: string
    apiKey: string
    logicalName: string
    upstreamModel: string
    contextTokens: number
    outputTokens: number
  }>
  logLevel: string
}>

const isSet = <T>(value: T | undefined): value is T => value !== undefined

const unusable = (problem: string, cause: unknown) =>
  new GalleyError("config_invalid", `The configuration is not usable:\n  ${problem}`, { cause })

function readPrivateKey(inline: string | undefined, file: string | undefined): string {
  const name = file === undefined ? "GITHUB_PRIVATE_KEY" : "GITHUB_PRIVATE_KEY_FILE"
  // An environment file cannot hold line breaks, so they may be written as \n.
  const pem = file === undefined ? (inline ?? "").replaceAll("\\n", "\n") : readKeyFile(file)
  try {
    createPrivateKey(pem)
  } catch (cause) {
    throw unusable(`${name}: expected a private key in PEM`, cause)
  }
  return pem
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch (cause) {
    throw unusable("GITHUB_PRIVATE_KEY_FILE: cannot be read", cause)
  }
}

/** @throws `config_invalid` with every missing or wrong variable */
export function readServerConfig(environment: Readonly<Record<string, string | undefined>>): ServerConfig {
  const env = parseConfiguration(ServerEnvironment, environment)
  return {
    databaseUrl: env.DATABASE_URL,
    publicUrl: env.GALLEY_PUBLIC_URL,
    listen: { host: env.GALLEY_LISTEN_HOST, port: env.GALLEY_LISTEN_PORT },
    masterKeys: [env.GALLEY_MASTER_KEY, env.GALLEY_MASTER_KEY_PREVIOUS].filter(isSet).map((key) => Buffer.from(key, "base64")),
    workspace: { name: env.GALLEY_WORKSPACE, maxRunningJobs: env.GALLEY_MAX_RUNNING_JOBS },
    limits: JobLimits.parse({
      jobTimeoutMs: env.GALLEY_JOB_TIMEOUT_SECONDS * 1_000,
      modelIdleTimeoutMs: env.GALLEY_MODEL_IDLE_SECONDS * 1_000,
    }),
    webhookBodyMs: env.GALLEY_WEBHOOK_BODY_SECONDS * 1_000,
    scheduledWork: env.GALLEY_SCHEDULED_WORK === "1",
    retention: {
      deliveryDays: env.GALLEY_KEEP_DELIVERIES_DAYS,
      runDays: env.GALLEY_KEEP_RUNS_DAYS,
      deadTaskDays: env.GALLEY_KEEP_DEAD_TASKS_DAYS,
    },
    migrationsDirectory: env.GALLEY_MIGRATIONS_DIRECTORY,
    demoLogin: env.GALLEY_DEMO_LOGIN === "1",
    runnerToken: env.GALLEY_RUNNER_TOKEN,
    github: {
      webUrl: env.GITHUB_URL,
      apiUrl: env.GITHUB_API_URL,
      appId: env.GITHUB_APP_ID,
      privateKey: readPrivateKey(env.GITHUB_PRIVATE_KEY, env.GITHUB_PRIVATE_KEY_FILE),
      webhookSecrets: [env.GITHUB_WEBHOOK_SECRET, env.GITHUB_WEBHOOK_SECRET_PREVIOUS].filter(isSet),
    },
    model: {
      baseUrl: env.MODEL_BASE_URL,
      apiKey: env.MODEL_API_KEY,
      logicalName: env.MODEL_LOGICAL_NAME,
      upstreamModel: env.MODEL,
      contextTokens: env.MODEL_CONTEXT_TOKENS,
      outputTokens: env.MODEL_OUTPUT_TOKENS,
    },
    logLevel: env.LOG_LEVEL,
  }
}
