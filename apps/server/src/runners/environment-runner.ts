import { GalleyError } from "@galley/contract/errors"

/** Name of the runner that the server's environment names: a start makes it, with the token of GALLEY_RUNNER_TOKEN. */
export const ENVIRONMENT_RUNNER = "default"

/**
 * Whether this is the runner that the server's environment names. Pure.
 *
 * @param inItsWorkspace the runner belongs to the workspace that the environment names
 */
export const isOfEnvironment = (name: string, inItsWorkspace: boolean): boolean => inItsWorkspace && name === ENVIRONMENT_RUNNER

/**
 * Refuses a change that the next start of the server would undo.
 *
 * @throws `forbidden` for the runner of the environment
 */
export function assertNotOfEnvironment(ofEnvironment: boolean): void {
  if (!ofEnvironment) return
  throw new GalleyError(
    "forbidden",
    "the environment names this runner: a start would make it again; change GALLEY_RUNNER_TOKEN to change its token",
  )
}
