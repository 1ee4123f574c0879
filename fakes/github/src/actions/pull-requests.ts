import { z } from "zod"
import type { Context } from "../context.ts"
import { borrowObjects, resolveCommit, setRef } from "../git/mirror.ts"
import { type Change, readChange } from "../git/read-change.ts"
import { countApart } from "../git/read-commits.ts"
import { emitPullRequest } from "../payloads/pull-request-payload.ts"
import { notFound, unprocessable } from "../rest-error.ts"
import { accountOf, fullNameOf, nextId, type PullRequest, type Repository, timestamp } from "../state.ts"
import { createRepository, existingRepository, mirrorOf } from "./repositories.ts"

const Sha = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
const Ref = z.string().min(1)

export const OpenPullRequest = z.strictObject({
  /** `owner/name` of the base repository. */
  repo: z.string(),
  /** Left out: the next free number. */
  number: z.int().positive().optional(),
  baseRef: Ref.default("main"),
  baseSha: Sha,
  headRef: Ref,
  headSha: Sha,
  title: z.string().default("A change"),
  body: z.string().nullable().default(null),
  /** Login; `name[bot]` makes a bot. */
  author: z.string().default("octocat"),
  authorAssociation: z.string().optional(),
  draft: z.boolean().default(false),
  /** The head lies in another repository; `gitDirectory` holds its objects unless the base has them. */
  fork: z.strictObject({ owner: z.string(), name: z.string().optional(), gitDirectory: z.string().optional() }).optional(),
})
export type OpenPullRequest = z.input<typeof OpenPullRequest>

/** Names one pull request: `owner/name` and number. */
export type PullRequestName = Readonly<{ repo: string; number: number }>

/** Opens a pull request; sends `pull_request.opened`. Both commits must exist in git. */
export async function openPullRequest(context: Context, input: OpenPullRequest): Promise<PullRequest> {
  const given = OpenPullRequest.parse(input)
  const { state } = context
  const repository = existingRepository(context, given.repo)
  const number = given.number ?? Math.max(0, ...repository.pullRequests.keys()) + 1
  if (repository.pullRequests.has(number)) throw unprocessable(`pull request ${number} exists`)
  if (given.fork?.gitDirectory) await borrowObjects(mirrorOf(repository), given.fork.gitDirectory)
  const author = accountOf(state, given.author, given.author.endsWith("[bot]") ? "Bot" : "User")
  const headRepository = given.fork
    ? createRepository(context, {
        id: nextId(state),
        owner: accountOf(state, given.fork.owner),
        name: given.fork.name ?? repository.name,
        mirrorDirectory: null,
        fork: true,
      })
    : repository
  const now = timestamp(context.now())
  const pullRequest: PullRequest = {
    id: nextId(state),
    number,
    repository,
    base: { ref: given.baseRef, sha: given.baseSha, repository },
    head: { ref: given.headRef, sha: given.headSha, repository: headRepository },
    title: given.title,
    body: given.body,
    author,
    authorAssociation: given.authorAssociation ?? associationOf(repository, author.login),
    draft: given.draft,
    locked: false,
    state: "open",
    merged: false,
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    facts: { commits: 0, additions: 0, deletions: 0, changedFiles: 0 },
  }
  await settle(pullRequest)
  repository.pullRequests.set(number, pullRequest)
  await emitPullRequest(context, "opened", pullRequest, author)
  return pullRequest
}

/** Moves the head; sends `pull_request.synchronize`. A force push is simply another commit. */
export async function pushHead(context: Context, name: PullRequestName, headSha: string): Promise<PullRequest> {
  const pullRequest = existingPullRequest(context, name)
  const before = pullRequest.head.sha
  pullRequest.head.sha = Sha.parse(headSha)
  await settle(pullRequest)
  touch(context, pullRequest)
  if (pullRequest.state === "open")
    await emitPullRequest(context, "synchronize", pullRequest, pullRequest.author, { before, after: headSha })
  return pullRequest
}

export const EditPullRequest = z.strictObject({
  title: z.string().optional(),
  body: z.string().optional(),
  baseRef: Ref.optional(),
  baseSha: Sha.optional(),
})
export type EditPullRequest = z.infer<typeof EditPullRequest>

/** Changes title, body or base; sends `pull_request.edited` with what it was before. */
export async function editPullRequest(context: Context, name: PullRequestName, edit: EditPullRequest): Promise<PullRequest> {
  const pullRequest = existingPullRequest(context, name)
  const { title, body, base } = pullRequest
  const { title: newTitle, body: newBody, baseRef, baseSha } = EditPullRequest.parse(edit)
  pullRequest.title = newTitle ?? title
  pullRequest.body = newBody ?? body
  pullRequest.base = { ...base, ref: baseRef ?? base.ref, sha: baseSha ?? base.sha }
  await settle(pullRequest)
  touch(context, pullRequest)
  await emitPullRequest(context, "edited", pullRequest, pullRequest.author, {
    changes: {
      ...(newTitle !== undefined && { title: { from: title } }),
      ...(newBody !== undefined && { body: { from: body ?? "" } }),
      ...((baseRef ?? baseSha) && { base: { ref: { from: base.ref }, sha: { from: base.sha } } }),
    },
  })
  return pullRequest
}

/** Closes a pull request, merged or not; sends `pull_request.closed`. */
export async function closePullRequest(context: Context, name: PullRequestName, merged = false): Promise<PullRequest> {
  const pullRequest = existingPullRequest(context, name)
  touch(context, pullRequest)
  Object.assign(pullRequest, { state: "closed", merged, closedAt: pullRequest.updatedAt })
  await emitPullRequest(context, "closed", pullRequest, pullRequest.author)
  return pullRequest
}

/** Opens a closed pull request again; sends `pull_request.reopened`. */
export async function reopenPullRequest(context: Context, name: PullRequestName): Promise<PullRequest> {
  const pullRequest = existingPullRequest(context, name)
  touch(context, pullRequest)
  Object.assign(pullRequest, { state: "open", closedAt: null })
  await emitPullRequest(context, "reopened", pullRequest, pullRequest.author)
  return pullRequest
}

/** Turns draft on or off; sends `pull_request.converted_to_draft` or `pull_request.ready_for_review`. */
export async function setDraft(context: Context, name: PullRequestName, draft: boolean): Promise<PullRequest> {
  const pullRequest = existingPullRequest(context, name)
  touch(context, pullRequest)
  pullRequest.draft = draft
  await emitPullRequest(context, draft ? "converted_to_draft" : "ready_for_review", pullRequest, pullRequest.author)
  return pullRequest
}

/** Locks or unlocks the conversation; sends `pull_request.locked` or `pull_request.unlocked`. */
export async function lockPullRequest(context: Context, name: PullRequestName, locked: boolean): Promise<PullRequest> {
  const pullRequest = existingPullRequest(context, name)
  touch(context, pullRequest)
  pullRequest.locked = locked
  await emitPullRequest(context, locked ? "locked" : "unlocked", pullRequest, pullRequest.repository.owner)
  return pullRequest
}

/** The pull request with this name. Throws RestError 404. */
export function existingPullRequest(context: Context, { repo, number }: PullRequestName): PullRequest {
  const pullRequest = existingRepository(context, repo).pullRequests.get(number)
  if (!pullRequest) throw notFound()
  return pullRequest
}

/** The change between two commits of a repository, read from git once. */
export function changeBetween(repository: Repository, baseSha: string, headSha: string): Promise<Change> {
  const key = `${baseSha}..${headSha}`
  const known = repository.changes.get(key)
  if (known) return known
  const reading = readChange(mirrorOf(repository), baseSha, headSha)
  repository.changes.set(key, reading)
  reading.catch(() => repository.changes.delete(key))
  return reading
}

/** Association GitHub would state for this person. */
export function associationOf(repository: Repository, login: string): string {
  if (repository.owner.login.toLowerCase() === login.toLowerCase()) return "OWNER"
  return repository.collaborators.has(login.toLowerCase()) ? "COLLABORATOR" : "NONE"
}

/** Counts the change anew and points the mirror's refs at it. Without git there is nothing to count. */
async function settle(pullRequest: PullRequest): Promise<void> {
  const { repository, base, head, number } = pullRequest
  if (repository.mirrorDirectory === null) return
  const mirror = mirrorOf(repository)
  for (const sha of [base.sha, head.sha]) {
    if (!(await resolveCommit(mirror, sha))) throw unprocessable(`no commit ${sha} in ${fullNameOf(repository)}`)
  }
  const [change, apart] = await Promise.all([changeBetween(repository, base.sha, head.sha), countApart(mirror, base.sha, head.sha)])
  const { additions, deletions, files } = change
  pullRequest.facts = { commits: apart.ahead, additions, deletions, changedFiles: files.length }
  await setRef(mirror, `refs/heads/${base.ref}`, base.sha)
  if (head.repository === repository) await setRef(mirror, `refs/heads/${head.ref}`, head.sha)
  await setRef(mirror, `refs/pull/${number}/head`, head.sha)
}

function touch(context: Context, pullRequest: PullRequest): void {
  pullRequest.updatedAt = timestamp(context.now())
  pullRequest.repository.pushedAt = pullRequest.updatedAt
}
