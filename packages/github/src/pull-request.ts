import { Sha } from "@galley/contract/sha"
import { z } from "zod"
import type { GitHubCall } from "./github-app.ts"

const PullRequestAnswer = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string().nullable(),
  state: z.enum(["open", "closed"]),
  draft: z.boolean().default(false),
  updated_at: z.string(),
  user: z.object({ login: z.string(), type: z.string().default("User") }).nullable(),
  head: z.object({ ref: z.string(), sha: Sha }),
  base: z.object({ ref: z.string(), sha: Sha }),
})

export type PullRequest = Readonly<{
  number: number
  title: string
  body: string
  open: boolean
  draft: boolean
  updatedAt: string
  author: string
  authorIsBot: boolean
  headRef: string
  headSha: Sha
  baseRef: string
  baseSha: Sha
}>

export type PullRequestAddress = Readonly<{ owner: string; repository: string; number: number }>

/** Reads one pull request. @throws `not_found` and the other codes of `githubFault` */
export async function readPullRequest(call: GitHubCall, at: PullRequestAddress): Promise<PullRequest> {
  const { data } = await call("read", "GET /repos/{owner}/{repo}/pulls/{pull_number}", {
    owner: at.owner,
    repo: at.repository,
    pull_number: at.number,
  })
  const raw = PullRequestAnswer.parse(data)
  return {
    number: raw.number,
    title: raw.title,
    body: raw.body ?? "",
    open: raw.state === "open",
    draft: raw.draft,
    updatedAt: new Date(raw.updated_at).toISOString(),
    author: raw.user?.login ?? "ghost",
    authorIsBot: raw.user?.type === "Bot",
    headRef: raw.head.ref,
    headSha: raw.head.sha,
    baseRef: raw.base.ref,
    baseSha: raw.base.sha,
  }
}
