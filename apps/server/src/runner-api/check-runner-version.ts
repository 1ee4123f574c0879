import { GalleyError } from "@galley/contract/errors"

/** The oldest runner that speaks this server's protocol. */
export const MIN_RUNNER_VERSION = "0.1.0"

const numbersOf = (version: string): number[] => (/^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number)

/**
 * Compares `major.minor.patch` and nothing behind it. Pure.
 *
 * @throws `runner_too_old` for a version below `MIN_RUNNER_VERSION`, and for text that is no version
 */
export function checkRunnerVersion(version: string): void {
  const own = numbersOf(version)
  const difference = numbersOf(MIN_RUNNER_VERSION)
    .map((least, i) => (own[i] ?? -1) - least)
    .find((value) => value !== 0)
  if (difference !== undefined && difference < 0) {
    throw new GalleyError("runner_too_old", `this server needs a runner of version ${MIN_RUNNER_VERSION} or newer`)
  }
}
