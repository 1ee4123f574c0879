/**
 * `make conformance SERVER=url TOKEN=token [ONLY=text] [QUICK=1]`: whether a server keeps the rules of runner protocol v1, seen over HTTP
 * alone. Prints a line per check; the last line is `N passed, N failed`, and `, N skipped` if any. Exit status 1 when a check failed, or there is
 * no server or it does not know the token, 2 when the call was wrong.
 *
 * It takes the place of a runner: run it with a runner token of a scratch workspace, without other runners, in which 5 jobs of different
 * pull requests wait and may run at the same time. It fails one of them for good and hands over results for the others, which the server may
 * publish. Checks without a job to look at are skipped and say so. ONLY runs the checks whose name holds the text; QUICK skips those that wait
 * for a lease to run out.
 */
import { randomUUID } from "node:crypto"
import { errorCode } from "@galley/contract/errors"
import { type Check, NotSeen } from "./check.ts"
import { allChecks, JOBS_NEEDED } from "./checks/all-checks.ts"
import { release, type Server } from "./protocol-client.ts"
import { type Outcome, runChecks, summary } from "./run-checks.ts"

const say = (line: string) => process.stdout.write(`${line}\n`)

const words = { passed: "ok", failed: "FAILED", skipped: "skipped" } as const
const tell = ({ name, state, reason }: Outcome) => say(`${words[state]} ${name}${reason === "" ? "" : `\n    ${reason}`}`)

async function main({ SERVER, TOKEN, ONLY = "", QUICK = "" }: NodeJS.ProcessEnv): Promise<number> {
  if (!SERVER || !TOKEN || !URL.canParse(SERVER)) {
    say("make conformance SERVER=url TOKEN=token [ONLY=text] [QUICK=1]: address of a server and a token of a runner")
    return 2
  }
  const checks = allChecks.filter(({ name }) => name.includes(ONLY)).map((check) => (check.slow && isSet(QUICK) ? leftOut(check) : check))
  if (checks.length === 0) {
    say(`there is no check with ${ONLY} in its name`)
    return 2
  }
  const server = { url: SERVER.replace(/\/+$/, ""), token: TOKEN }
  const obstacle = await findObstacle(server)
  if (obstacle !== null) {
    const outcome = { name: `${SERVER} cannot be checked`, state: "failed", reason: obstacle } as const
    tell(outcome)
    say(summary([outcome]))
    return 1
  }
  say(`${checks.length} checks of ${SERVER}; they use up to ${JOBS_NEEDED} waiting jobs`)
  const outcomes = await runChecks(server, checks, tell)
  say(summary(outcomes))
  return outcomes.some(({ state }) => state === "failed") ? 1 : 0
}

/** Why every check would fail alike, or null. Gives back a lease that nobody has: that tells whether there is a server, and takes no job. */
async function findObstacle(server: Server): Promise<string | null> {
  const nobodys = { leaseId: randomUUID(), leaseToken: "a token of no lease" }
  const signal = AbortSignal.timeout(5_000)
  const code = await release(server, nobodys, signal).then(() => null, errorCode)
  if (signal.aborted) return "there is no answer within 5 s (server_unreachable)"
  if (code === null || code === "lease_lost") return null
  return code === "runner_unauthorized"
    ? "it does not know this token (runner_unauthorized)"
    : `it does not answer as runner protocol v1 does (${code})`
}

const leftOut = (check: Check): Check => ({ ...check, run: () => Promise.reject(new NotSeen("left out with QUICK")) })

const isSet = (value: string) => value !== "" && value !== "0"

process.exitCode = await main(process.env)
