import type { Canary } from "./canary.ts"
import type { ProbeAttempt } from "./probe-program.ts"
import type { Slot } from "./slot.ts"

/**
 * P must hold: P1 who the slot's user is, P2 its gateway answers, P3 its control port answers, P4 reads the export and writes only
 * `scratch`. N must be refused: N1 any other address, N2 the other slots' ports, N3 UDP and name servers, N4 looking a name up,
 * N5 the runner's memory and other jobs, N6 what the runner itself must not hold.
 */
export type BoundaryCheckId = "P1" | "P2" | "P3" | "P4" | "N1" | "N2" | "N3" | "N4" | "N5" | "N6"

export type BoundaryCheck = Readonly<{ id: BoundaryCheckId; slot: number | null; passed: boolean; detail: string }>

export type Expectation = Readonly<{ id: BoundaryCheckId; expect: "allowed" | "refused"; attempt: ProbeAttempt }>

export const refused = (id: BoundaryCheckId, attempt: ProbeAttempt): Expectation => ({ id, expect: "refused", attempt })

/** A canary and whether the slot's user may reach it. */
export type ExpectedCanary = Readonly<Pick<Expectation, "id" | "expect"> & { canary: Canary }>

/** The other end of the same attempts: what arrived at the canaries. */
export function judgeArrivals(slot: Slot, canaries: readonly ExpectedCanary[]): BoundaryCheck[] {
  return canaries.map(({ id, expect, canary }) => ({
    id,
    slot: slot.index,
    passed: canary.arrivals() > 0 === (expect === "allowed"),
    detail: `${canary.arrivals()} arrivals at ${canary.host} port ${canary.port}, ${canary.operation} must be ${expect}`,
  }))
}

/** Compares what the probe saw with what it must see. Pure. An outcome that is missing fails. */
export function judgeOutcomes(slot: Slot, expectations: readonly Expectation[], outcomes: readonly string[]): BoundaryCheck[] {
  return expectations.map(({ id, expect, attempt }, index) => {
    const outcome = outcomes[index]
    const passed = outcome !== undefined && (outcome === "ok") === (expect === "allowed")
    return { id, slot: slot.index, passed, detail: `${describe(attempt)}: ${outcome ?? "no answer"}, must be ${expect}` }
  })
}

function describe(attempt: ProbeAttempt): string {
  if ("host" in attempt)
    return `${attempt.operation} ${attempt.host} port ${attempt.port}${attempt.fromPort ? ` from port ${attempt.fromPort}` : ""}`
  if ("path" in attempt) return `${attempt.operation} ${attempt.path}`
  return "name" in attempt ? `${attempt.operation} ${attempt.name}` : attempt.operation
}

/** P1: four times the slot's user, no groups, no capability in any set, no new privileges, no inherited descriptor. Pure. */
export function judgeIdentity(slot: Slot, status: string, openFiles: readonly number[]): BoundaryCheck {
  const field = statusFields(status)
  const wrong = [
    ...["Uid", "Gid"].filter(
      (name) =>
        field(name) !==
        Array(4)
          .fill(name === "Uid" ? slot.uid : slot.gid)
          .join(" "),
    ),
    ...(field("Groups") === "" ? [] : ["Groups"]),
    ...capabilitySets.filter((name) => !/^0+$/.test(field(name))),
    ...(field("NoNewPrivs") === "1" ? [] : ["NoNewPrivs"]),
    ...openFiles.map((descriptor) => `descriptor ${descriptor}`),
  ]
  const detail = wrong.length === 0 ? "own user, no capabilities" : `wrong: ${wrong.join(", ")}`
  return { id: "P1", slot: slot.index, passed: wrong.length === 0, detail }
}

/** Bits of CAP_KILL, CAP_SETGID, CAP_SETUID and CAP_SETPCAP. */
const runnerCapabilityBits = (1n << 5n) | (1n << 6n) | (1n << 7n) | (1n << 8n)

/** N6: the runner is not root and holds, and can get, at most its four capabilities. Pure. */
export function judgeRunner(status: string): BoundaryCheck {
  const field = statusFields(status)
  const wrong = [
    ...(field("Uid").split(" ").includes("0") ? ["Uid"] : []),
    ...capabilitySets.filter((name) => (BigInt(`0x${field(name) || "f"}`) & ~runnerCapabilityBits) !== 0n),
    ...(field("NoNewPrivs") === "1" ? [] : ["NoNewPrivs"]),
  ]
  const detail = wrong.length === 0 ? "the runner holds no right to files or network" : `wrong at the runner: ${wrong.join(", ")}`
  return { id: "N6", slot: null, passed: wrong.length === 0, detail }
}

const capabilitySets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]

const statusFields =
  (status: string) =>
  (name: string): string =>
    new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(status)?.[1]?.trim().replace(/\s+/g, " ") ?? "missing"
