import { Lease, type LeaseRequest } from "@galley/contract/protocol"
import { askServer, type LeaseKey, type Question } from "./ask-server.ts"
import type { LeaseVerb } from "./body-of.ts"
import { leaseRequest } from "./lease-request.ts"
import { type Answer, must, Unmet } from "./must.ts"
import type { Server } from "./protocol-client.ts"

/** The server under test, as checks see it. */
export type Subject = Readonly<{
  server: Server
  /** One poll, by default for both kinds and for 1 s; null for 204. @throws `Unmet` when it was refused */
  poll(over?: Partial<LeaseRequest>, how?: Pick<Question, "date" | "signal">): Promise<Lease | null>
  /** A verb on a lease with a body that fits it. */
  on(key: LeaseKey, verb: LeaseVerb, body: unknown): Promise<Answer>
  /** Leases until nothing is left for such polls. */
  leaseAll(over?: Partial<LeaseRequest>): Promise<Lease[]>
  /** Leases until a certain job comes; null when it did not within `withinMs` and nothing else is left. */
  leaseJob(jobId: string, withinMs: number): Promise<Lease | null>
  /** Whether this subject got a lease of the job that did not end. */
  holds(jobId: string): boolean
  giveBack(lease: Lease): Promise<void>
  /** Gives back whatever polls of this subject got and did not end. */
  giveAllBack(): Promise<void>
}>

const endingVerbs: ReadonlySet<LeaseVerb> = new Set(["result", "failure", "release"])
const SHORT_WAIT_MS = 300
const DEFAULT_WAIT_MS = 1_000

export function openSubject(server: Server): Subject {
  const held = new Map<string, Lease>()

  const poll: Subject["poll"] = async (over = {}, how = {}) => {
    const body = { ...leaseRequest("conformance", ["diff", "dynamic"]), waitMs: DEFAULT_WAIT_MS, ...over }
    const answer = await askServer(server, "lease", { body, ...how })
    if (answer.status === 204) return null
    must(answer.status === 200, `a poll was refused: ${answer.status} ${JSON.stringify(answer.body)}`)
    const lease = Lease.parse(answer.body)
    held.set(lease.leaseId, lease)
    return lease
  }
  const on: Subject["on"] = async (lease, verb, body) => {
    const answer = await askServer(server, verb, { body, lease })
    if (answer.status === 200 && endingVerbs.has(verb)) held.delete(lease.leaseId)
    return answer
  }
  const leaseUntil = async (isLast: (lease: Lease) => boolean, over: Partial<LeaseRequest> = {}): Promise<Lease[]> => {
    const leases: Lease[] = []
    for (;;) {
      const lease = await poll({ waitMs: SHORT_WAIT_MS, ...over })
      if (lease === null) return leases
      must(!leases.some(({ job }) => job.id === lease.job.id), `job ${lease.job.id} was leased to two polls at the same time`)
      leases.push(lease)
      if (isLast(lease)) return leases
    }
  }
  const giveBack = async (lease: Lease) => {
    await on(lease, "release", {})
    held.delete(lease.leaseId)
  }
  return {
    server,
    poll,
    on,
    leaseAll: (over) => leaseUntil(() => false, over),
    async leaseJob(jobId, withinMs) {
      const deadline = performance.now() + withinMs
      for (;;) {
        const found = (await leaseUntil(({ job }) => job.id === jobId)).find(({ job }) => job.id === jobId)
        if (found !== undefined) return found
        if (performance.now() > deadline) return null
      }
    },
    holds: (jobId) => [...held.values()].some(({ job }) => job.id === jobId),
    giveBack,
    async giveAllBack() {
      for (const lease of [...held.values()]) await giveBack(lease)
    },
  }
}

/** @throws `Unmet` when there is none */
export function mustLease(lease: Lease | null, what: string): Lease {
  if (lease === null) throw new Unmet(`${what}: expected a lease, got 204`)
  return lease
}
