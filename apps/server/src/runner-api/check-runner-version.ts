import { GalleyError } from "@galley/contract/errors"

/** The oldest runner that speaks this server's protocol. */
export const MIN_RUNNER_VERSION = "0.1.0"

const numbersOf = (version: string): number[] => (/^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number)

/** Whether a runner is older than this server works with, or its version is none. Compares `major.minor.patch` alone. Pure. */
export function isRunnerTooOld(version: string): boolean {
  const own = numbersOf(version)
  const difference = numbersOf(MIN_RUNNER_VERSION)
    .map((least, i) => (own[i] ?? -1) - least)
    .find((value) => value !== 0)
  return difference !== undefined && difference < 0
}

/** @throws `runner_too_old` */
export function checkRunnerVersion(version: string): void {
  if (isRunnerTooOld(version)) {
    throw new GalleyError("runner_too_old", `this server needs a runner of version ${MIN_RUNNER_VERSION} or newer`)
  }
}
