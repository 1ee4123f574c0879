import { Sha } from "@galley/contract/sha"
import { StorableText } from "@galley/contract/storable-text"
import { z } from "zod"
import type { GitHubCall } from "./github-app.ts"

/** As wide as its column. */
export const PullRequestNumber = z.int().positive().max(2_147_483_647)

/** A moment that the database can hold, with its offset from UTC. */
export const Time = z.iso.datetime({ offset: true }).refine((time) => Date.parse(time) > 0, "expected a time after 1970")

/**
 * A pull request as GitHub spells it, in REST answers and in webhooks alike; only the fields that are used. Title and description may hold
 * what cannot be stored; who stores them replaces it.
 */
export const PullRequestJson = z.object({
  number: PullRequestNumber,
  title: z.string(),
  body: z.string().nullable(),
  state: z.enum(["open", "closed"]),
  draft: z.boolean().default(false),
  updated_at: Time,
  user: z.object({ login: StorableText, type: z.string().default("User") }).nullable(),
  head: z.object({ ref: StorableText, sha: Sha }),
  base: z.object({ ref: StorableText, sha: Sha }),
})

/** Title and body are untrusted text. */
export type PullRequest = Readonly<{
  number: number
  title: string
  body: string
  open: boolean
  draft: boolean
  /** ISO time of GitHub's last change; orders deliveries that arrive out of order. */
  updatedAt: string
  author: string
  authorIsBot: boolean
  headRef: string
  headSha: Sha
  baseRef: string
  baseSha: Sha
}>

/** Whether an account is no person. Some hosts leave the type out, so the login's suffix counts too. */
export function isBot(account: Readonly<{ login: string; type: string }> | null): boolean {
  return account !== null && (account.type === "Bot" || account.login.endsWith("[bot]"))
}

/** The pull request in our words. The account of a deleted author is `ghost`, as on GitHub. */
export function pullRequestOf(json: z.infer<typeof PullRequestJson>): PullRequest {
  return {
    number: json.number,
    title: json.title,
    body: json.body ?? "",
    open: json.state === "open",
    draft: json.draft,
    updatedAt: new Date(json.updated_at).toISOString(),
    author: json.user?.login ?? "ghost",
    authorIsBot: isBot(json.user),
    headRef: json.head.ref,
    headSha: json.head.sha,
    baseRef: json.base.ref,
    baseSha: json.base.sha,
  }
}

export type PullRequestAddress = Readonly<{ owner: string; repository: string; number: number }>

/** Reads one pull request. @throws `not_found` and the other codes of `githubFault` */
export async function readPullRequest(call: GitHubCall, at: PullRequestAddress): Promise<PullRequest> {
  const { data } = await call("read", "GET /repos/{owner}/{repo}/pulls/{pull_number}", {
    owner: at.owner,
    repo: at.repository,
    pull_number: at.number,
  })
  return pullRequestOf(PullRequestJson.parse(data))
}
