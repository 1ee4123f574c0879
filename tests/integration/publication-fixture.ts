import { expect } from "vitest"
import { commentOf, type ReviewServer, resultOf, startReviewServer, stateAt, until } from "./review-fixture.ts"

/** Paths of the fake's comment routes, for faults. */
export const comments = "/repos/*/*/issues/*/comments"
export const oneComment = "/repos/*/*/issues/comments/*"

/** A server with an open pull request that waits for its first review. */
export async function opened(): Promise<ReviewServer> {
  const server = await startReviewServer()
  await server.openPullRequest()
  return server
}

/** Hands a review over without waiting for its publication. */
export async function handOver(server: ReviewServer, text?: string): Promise<string> {
  const lease = await server.lease()
  const state = stateAt(lease.job.headSha)
  const answer = await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, text) }))
  expect(answer.status).toBe(200)
  return commentOf(state, text)
}

/** The newest job once its publication is settled. */
export const settled = (server: ReviewServer) => until(server.job, ({ state }) => state !== "publishing")

/** Requests about comments. */
export const requests = (server: ReviewServer, method: string) =>
  server.github.requests().filter((request) => request.method === method && request.path.includes("/comments"))
