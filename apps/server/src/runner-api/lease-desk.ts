import { type ClaimedLease, type ClaimRequest, claimJobs } from "@galley/store/queue/claim-jobs"
import { type Listener, listenForJobs } from "@galley/store/wake"
import type { ServerContext } from "../context.ts"

/** Where runners wait for work. All of this server's waiting polls are served in one claim, so that its lock is shared. */
export type LeaseDesk = Readonly<{
  /** A lease, or null when none came within `waitMs` or `signal` aborted. */
  wait(request: ClaimRequest, waitMs: number, signal: AbortSignal): Promise<ClaimedLease | null>
  /** Answers everyone who waits with null and stops listening. */
  close(): Promise<void>
}>

type Waiting = {
  request: ClaimRequest
  /** Asked to go: the claim under way may still answer it, the next one must not. */
  leaving: boolean
  answer: (lease: ClaimedLease | null) => void
  fail: (error: unknown) => void
}

/** The floor under lost notifications: waiting runners look for themselves this often. */
const POLL_MS = 2_000

export async function openLeaseDesk({ store }: Pick<ServerContext, "store">): Promise<LeaseDesk> {
  const waiting = new Set<Waiting>()
  let serving: Promise<void> | null = null
  let again = false
  let open = true

  const serveOnce = async () => {
    again = false
    const asked = [...waiting].filter((one) => !one.leaving)
    if (asked.length === 0) return
    try {
      const leases = await claimJobs(
        store,
        asked.map(({ request }) => request),
      )
      const byRequest = new Map(leases.map((lease) => [lease.requestId, lease]))
      for (const one of asked) {
        const lease = byRequest.get(one.request.requestId.toLowerCase())
        // A request id is no secret: only the runner that asked gets the token.
        if (lease?.runnerId === one.request.runnerId) one.answer(lease)
      }
    } catch (error) {
      for (const one of asked) one.fail(error)
    }
  }
  /** One claim at a time; whoever comes meanwhile is served by the next one. */
  const serve = () => {
    if (serving !== null) {
      again = true
      return
    }
    // Polls that arrived in the same turn of the event loop are served together.
    serving = new Promise(setImmediate).then(serveOnce).finally(() => {
      serving = null
      if (again && open) serve()
    })
  }

  const listener: Listener = await listenForJobs(store.sql, store.jobs, serve)
  const poll = setInterval(serve, POLL_MS)

  return {
    wait(request, waitMs, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<ClaimedLease | null>()
      const leave = () => {
        waiting.delete(entry)
        clearTimeout(timer)
        signal.removeEventListener("abort", giveUp)
      }
      const entry: Waiting = {
        request,
        leaving: false,
        answer: (lease) => {
          leave()
          resolve(lease)
        },
        fail: (error) => {
          leave()
          reject(error)
        },
      }
      const giveUp = () => {
        entry.leaving = true
        // While a claim with this request is under way its answer must be awaited, or a leased job would wait for its expiry.
        if (serving === null) entry.answer(null)
        else serving.finally(() => entry.answer(null))
      }
      const timer = setTimeout(giveUp, waitMs)
      signal.addEventListener("abort", giveUp)
      waiting.add(entry)
      if (!open || signal.aborted) giveUp()
      else serve()
      return promise
    },
    async close() {
      open = false
      clearInterval(poll)
      await listener.close()
      await serving
      for (const entry of [...waiting]) entry.answer(null)
    },
  }
}
