import { once } from "node:events"
import { serve } from "@hono/node-server"
import { onTestFinished } from "vitest"
import type { Server } from "../../conformance/protocol-client.ts"
import { REPO, type ReviewServer, startReviewServer } from "./review-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"

type Forward = (request: Request) => Promise<Response>
/** What stands between a client and the server: it may change the question, the answer, or both. */
export type Between = (request: Request, forward: Forward) => Promise<Response>

export const faithful: Between = (request, forward) => forward(request)

/** Nobody wants to see a minute pass: leases and pauses of this length, kept by the database. */
const LEASE_MS = 6_000
const PAUSE_MS = 3_000

/**
 * The server of this repository behind a listener of its own, with waiting jobs of as many pull requests. Its leases last 6 s, and a job that
 * failed waits 3 s at most.
 */
export async function startSubject(jobs: number, between: Between = faithful): Promise<Server & { review: ReviewServer }> {
  const review = await startReviewServer({ GALLEY_MAX_RUNNING_JOBS: "20" })
  await shortenTimes(review)
  const { baseSha, headSha } = review.change
  for (let number = 1; number <= jobs; number++) {
    await review.github.openPullRequest({ repo: REPO, number, baseSha, headRef: `change-${number}`, headSha })
  }
  const forward: Forward = async (request) => tellShortLease(request, await review.app.fetch(request))
  const listener = serve({ fetch: (request: Request) => between(request, forward), hostname: "127.0.0.1", port: 0 })
  await once(listener, "listening")
  onTestFinished(async () => {
    await review.stopWaiting()
    listener.close()
    if ("closeAllConnections" in listener) listener.closeAllConnections()
  })
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the listener has no port")
  return { url: `http://127.0.0.1:${address.port}`, token: RUNNER_TOKEN, review }
}

async function shortenTimes({ context }: ReviewServer): Promise<void> {
  await context.store.sql.unsafe(`
    create function shorten_times() returns trigger language plpgsql as $$ begin
      if new.lease_expires_at > clock_timestamp() + interval '${LEASE_MS} ms' then
        new.lease_expires_at := clock_timestamp() + interval '${LEASE_MS} ms';
      end if;
      new.run_after := least(new.run_after, clock_timestamp() + interval '${PAUSE_MS} ms');
      return new;
    end $$;
    create trigger shorten_times before insert or update on review_jobs for each row execute function shorten_times()`)
}

/** The lease says how long it lasts. */
async function tellShortLease(request: Request, answer: Response): Promise<Response> {
  if (!request.url.endsWith("/leases") || answer.status !== 200) return answer
  return Response.json({ ...Object(await answer.json()), leaseMs: LEASE_MS, heartbeatMs: LEASE_MS / 4 })
}
