import { parseArgs } from "node:util"
import { GalleyError } from "@galley/contract/errors"
import type { Store } from "@galley/store/database"
import { findRunnerId } from "@galley/store/runners/find-runner-id"
import { listFleet } from "@galley/store/runners/list-fleet"
import { registerRunner } from "@galley/store/runners/register-runner"
import { removeRunner } from "@galley/store/runners/remove-runner"
import { revokeOldToken } from "@galley/store/runners/revoke-old-token"
import { rotateRunnerToken } from "@galley/store/runners/rotate-runner-token"
import { setRunnerPaused } from "@galley/store/runners/set-runner-paused"
import { findWorkspaceId } from "@galley/store/workspaces/find-workspace-id"
import { z } from "zod"
import { assertNotOfEnvironment, isOfEnvironment } from "../runners/environment-runner.ts"
import { DEFAULT_OVERLAP_HOURS, HOUR_MS, OverlapHours, PauseNote, RunnerName } from "../runners/runner-fields.ts"

export const RUNNER_USAGE = `usage: runner <verb> [<name>] [--workspace <slug> | --shared] [options]
  list                               every runner, one JSON object a line
  register <name>                    prints the new runner's token, once
  rotate <name> [--overlap-hours N]  prints a new token; the old one works for N hours more (${DEFAULT_OVERLAP_HOURS}; 0 ends it at once)
  revoke <name>                      ends the old token before its time
  pause <name> [--note TEXT]         no new reviews; what it works on goes on
  resume <name>
  remove <name>                      refuses its tokens and gives its reviews back
A runner belongs to the workspace of the environment, to another one (--workspace), or works for all of them (--shared).`

const options = {
  workspace: { type: "string" },
  shared: { type: "boolean" },
  note: { type: "string" },
  "overlap-hours": { type: "string" },
} as const

const Verb = z.enum(["list", "register", "rotate", "revoke", "pause", "resume", "remove"])
const whose = ["workspace", "shared"]
const optionsOf: Readonly<Record<z.infer<typeof Verb>, readonly string[]>> = {
  list: [],
  register: whose,
  rotate: [...whose, "overlap-hours"],
  revoke: whose,
  pause: [...whose, "note"],
  resume: whose,
  remove: whose,
}
const ACTOR = "command line"

const misused = (problem: string, cause?: unknown) => new GalleyError("config_invalid", `${problem}\n${RUNNER_USAGE}`, { cause })

function readArguments(argv: readonly string[]) {
  try {
    const { positionals, values } = parseArgs({ args: [...argv], options, allowPositionals: true })
    return { positionals, values }
  } catch (cause) {
    throw misused(cause instanceof Error ? cause.message : "wrong arguments", cause)
  }
}

function read<T extends z.ZodType>(schema: T, value: unknown, name: string): z.infer<T> {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw misused(`${name} is not valid`, parsed.error)
  return parsed.data
}

/**
 * Manages runners, shared ones among them, without pages.
 *
 * @param environment slug of the workspace that the server's environment names
 * @returns the lines to print: runners, or a token and nothing else
 * @throws `config_invalid` with the usage, `not_found`, `forbidden` for the token of the environment's runner, `runner_name_taken`,
 *   `runner_token_overlaps`
 */
export async function runnerCommand(store: Store, environment: { slug: string }, argv: readonly string[]): Promise<string[]> {
  const { positionals, values } = readArguments(argv)
  const [word, typed, ...more] = positionals
  const verb = read(Verb, word, "the verb")
  if (more.length > 0 || (verb === "list") !== (typed === undefined)) throw misused("the name of one runner is needed, but for list")
  const stray = Object.keys(values).find((option) => !optionsOf[verb].includes(option))
  if (stray !== undefined) throw misused(`--${stray} is no option of ${verb}`)
  if (values.shared && values.workspace !== undefined) throw misused("a runner cannot be shared and of one workspace")
  if (verb === "list") return (await listFleet(store)).map((runner) => JSON.stringify(runner))

  const name = read(RunnerName, typed, "the name")
  const slug = values.shared ? null : (values.workspace ?? environment.slug)
  const workspaceId = slug === null ? null : await findWorkspaceId(store, slug)
  if (verb === "register") return [(await registerRunner(store, { workspaceId, name, actor: ACTOR })).token]

  const ofEnvironment = isOfEnvironment(name, slug === environment.slug)
  const change = { workspaceId, runnerId: await findRunnerId(store, workspaceId, name), actor: ACTOR }
  switch (verb) {
    case "rotate": {
      assertNotOfEnvironment(ofEnvironment)
      const overlapHours = read(OverlapHours, values["overlap-hours"] ?? String(DEFAULT_OVERLAP_HOURS), "--overlap-hours")
      return [(await rotateRunnerToken(store, change, overlapHours * HOUR_MS)).token]
    }
    case "revoke":
      await revokeOldToken(store, change)
      return []
    case "pause":
      await setRunnerPaused(store, change, { note: read(PauseNote, values.note ?? "", "--note") })
      return []
    case "resume":
      await setRunnerPaused(store, change, null)
      return []
    case "remove":
      assertNotOfEnvironment(ofEnvironment)
      await removeRunner(store, change)
      return []
  }
}
