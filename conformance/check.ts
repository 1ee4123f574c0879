import type { Lease } from "@galley/contract/protocol"
import type { Subject } from "./subject.ts"

/** One rule of the protocol: a sentence that starts with what it is about, and what shows whether it holds. */
export type Check = Readonly<{
  name: string
  /** Takes more than half a minute. */
  slow: boolean
  /** @throws `Unmet` when the rule does not hold, `NotSeen` when that cannot be seen */
  run: (subject: Subject) => Promise<void>
}>

/** Whether a rule holds could not be seen; the message says why. */
export class NotSeen extends Error {
  override readonly name = "NotSeen"
}

export function withoutJob(name: string, run: (subject: Subject) => Promise<void>): Check {
  return { name, slow: false, run }
}

/** A check that is given the lease of a waiting job. */
export function withJob(name: string, run: (subject: Subject, lease: Lease) => Promise<void>): Check {
  return withoutJob(name, async (subject) => run(subject, await takeJob(subject, "needs a waiting job, and there is none")))
}

export function withTwoJobs(name: string, run: (subject: Subject, first: Lease, second: Lease) => Promise<void>): Check {
  return withoutJob(name, async (subject) => {
    const reason = "needs two waiting jobs, and there are fewer"
    await run(subject, await takeJob(subject, reason), await takeJob(subject, reason))
  })
}

async function takeJob(subject: Subject, reason: string): Promise<Lease> {
  const lease = await subject.poll()
  if (lease === null) throw new NotSeen(reason)
  return lease
}
