import type { Slot } from "./slot.ts"

/** The runner's user: a plain number without an account. */
export const DEFAULT_RUNNER_UID = 64_900

/** All a runner keeps: change to a slot's user, empty the bounding set, end what runs there. No network or file rights. */
export const runnerCapabilities = ["setuid", "setgid", "setpcap", "kill"] as const

/**
 * The command that drops root for good and becomes the runner. Pure.
 * The slots' groups are given as supplementary groups: by them the runner hands directories to a slot without CAP_CHOWN.
 * The runner is told to end (SIGTERM) when its supervisor dies.
 *
 * @param argv program with an absolute path, and its arguments
 */
export function asRunner(
  argv: readonly [string, ...string[]],
  slots: readonly Slot[],
  runnerUid: number = DEFAULT_RUNNER_UID,
): [string, ...string[]] {
  const capabilities = ["-all", ...runnerCapabilities.map((name) => `+${name}`)].join(",")
  return [
    "setpriv",
    `--reuid=${runnerUid}`,
    `--regid=${runnerUid}`,
    `--groups=${slots.map((slot) => slot.gid).join(",")}`,
    `--inh-caps=${capabilities}`,
    `--ambient-caps=${capabilities}`,
    `--bounding-set=${capabilities}`,
    "--no-new-privs",
    "--pdeathsig=TERM",
    "--",
    ...argv,
  ]
}
