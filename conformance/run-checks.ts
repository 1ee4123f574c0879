import { type Check, NotSeen } from "./check.ts"
import type { Server } from "./protocol-client.ts"
import { openSubject } from "./subject.ts"

export type Outcome = Readonly<{
  name: string
  state: "passed" | "failed" | "skipped"
  /** Why not passed. */
  reason: string
}>

/** Runs checks one after the other and tells each outcome as it comes. Leases that a check leaves behind are given back after it. */
export async function runChecks(server: Server, checks: readonly Check[], tell: (outcome: Outcome) => void): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const check of checks) {
    const outcome = await runCheck(server, check)
    outcomes.push(outcome)
    tell(outcome)
  }
  return outcomes
}

async function runCheck(server: Server, { name, run }: Check): Promise<Outcome> {
  const subject = openSubject(server)
  const fault = (await faultOf(run(subject))) ?? (await faultOf(subject.giveAllBack()))
  if (fault === null) return { name, state: "passed", reason: "" }
  await faultOf(subject.giveAllBack())
  return { name, state: fault instanceof NotSeen ? "skipped" : "failed", reason: reasonOf(fault) }
}

const faultOf = (work: Promise<void>): Promise<unknown> => work.then(() => null).catch((error: unknown) => error)

/** A fault that is none of the protocol's, such as a broken connection, hides its reason in its causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${reasonOf(error.cause)}` : error.message
}

/** `N passed, N failed`, and `, N skipped` if any. */
export function summary(outcomes: readonly Outcome[]): string {
  const count = (state: Outcome["state"]) => outcomes.filter((outcome) => outcome.state === state).length
  return `${count("passed")} passed, ${count("failed")} failed${count("skipped") > 0 ? `, ${count("skipped")} skipped` : ""}`
}
