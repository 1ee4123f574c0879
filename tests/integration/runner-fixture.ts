import type { Lease } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { type ReviewServer, resultOf, startReviewServer } from "./review-fixture.ts"

/** An error answer: its status and what its body says. */
export const codeOf = async (answer: Response) => ({
  status: answer.status,
  ...((await answer.json()) as { error: { code: string; field?: string } }).error,
})

export const beat = { phase: "reviewing", progress: "1 model call", usage: noUsage }

export const failure = (lease: Lease, over = {}) => ({
  fence: lease.fence,
  code: "engine_crashed",
  detail: "",
  retryable: true,
  usage: noUsage,
  ...over,
})

/** What a runner may do with a lease. */
export const verbs = ["credentials", "heartbeat", "result", "failure", "release"] as const
export const bodyOf = (verb: (typeof verbs)[number], lease: Lease) =>
  verb === "heartbeat" ? beat : verb === "result" ? resultOf(lease) : verb === "failure" ? failure(lease) : {}

/** A server with one pull request, whose job is leased. */
export async function leased(environment: Record<string, string> = {}): Promise<{ server: ReviewServer; lease: Lease }> {
  const server = await startReviewServer(environment)
  await server.openPullRequest()
  return { server, lease: await server.lease() }
}
