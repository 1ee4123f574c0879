import { integerFromText } from "@galley/contract/configuration"
import { GalleyError } from "@galley/contract/errors"
import { TOKEN_OVERLAP_MS } from "@galley/store/runners/runner-token"
import { z } from "zod"

/** What an operator calls a runner: one line. */
export const RunnerName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{C}*$/u)

/** Why a runner is paused: one line, may be empty. */
export const PauseNote = z
  .string()
  .trim()
  .max(200)
  .regex(/^\P{C}*$/u)

/** For how long an old token goes on working, from text; 0 = not at all. */
export const OverlapHours = integerFromText(0, 168)
export const HOUR_MS = 3_600_000
export const DEFAULT_OVERLAP_HOURS = TOKEN_OVERLAP_MS / HOUR_MS

/** The runner that the server's environment names: a start makes it, with the token of GALLEY_RUNNER_TOKEN. */
export const ENVIRONMENT_RUNNER = "default"

/**
 * Refuses to change a token that the next start of the server would change back. `workspace` and `environment` are both ids or both slugs.
 *
 * @throws `forbidden` for the runner of the environment
 */
export function assertTokenIsOurs(name: string, workspace: string | null, environment: string): void {
  if (isOfEnvironment(name, workspace, environment)) {
    throw new GalleyError("forbidden", "this runner is the environment's: change GALLEY_RUNNER_TOKEN and start the server again")
  }
}

/** Whether this is the runner that the server's environment names. Pure. */
export const isOfEnvironment = (name: string, workspace: string | null, environment: string): boolean =>
  name === ENVIRONMENT_RUNNER && workspace === environment
