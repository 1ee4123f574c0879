import { z } from "zod"
import type { GitHubCall } from "./github-app.ts"
import { type PullRequest, type PullRequestAddress, PullRequestJson, pullRequestOf } from "./pull-request.ts"
import { PAGE_SIZE } from "./read-pages.ts"

export type OpenPullRequest = PullRequest & Readonly<{ createdAt: Date }>

export type OpenPullRequestPage = Readonly<{ pullRequests: readonly OpenPullRequest[]; isLast: boolean }>

const PullRequestsAnswer = z.array(PullRequestJson.extend({ created_at: z.iso.datetime({ offset: true }) }))

/**
 * One page of a repository's open pull requests, the one that changed last first, 100 at most.
 *
 * @param page from 1
 * @throws codes of `githubFault`
 */
export async function listOpenPullRequests(
  call: GitHubCall,
  at: Omit<PullRequestAddress, "number">,
  page: number,
): Promise<OpenPullRequestPage> {
  const { data } = await call("read", "GET /repos/{owner}/{repo}/pulls", {
    owner: at.owner,
    repo: at.repository,
    state: "open",
    sort: "updated",
    direction: "desc",
    per_page: PAGE_SIZE,
    page,
  })
  const pullRequests = PullRequestsAnswer.parse(data).map((raw) => ({ ...pullRequestOf(raw), createdAt: new Date(raw.created_at) }))
  return { pullRequests, isLast: pullRequests.length < PAGE_SIZE }
}
