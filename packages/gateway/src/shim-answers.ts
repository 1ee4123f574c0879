import type { ChangedFile, Checkout } from "@galley/checkout/checkout"
import { redact } from "@galley/redaction/redact"
import { flattenLines } from "./flatten-lines.ts"
import type { ShimJob } from "./gateway.ts"

/** Id of the one comment that exists; a new one would get the next. */
export const STATE_COMMENT_ID = 1

/** The answers to PR-Agent's reads, with the fields it needs and no more. */
export type ShimAnswers = Readonly<{
  repository(): unknown
  pullRequest(): unknown
  commits(): readonly unknown[]
  files(): readonly unknown[]
  comparison(): unknown
  comments(): readonly unknown[]
  comment(id: number, body: string): unknown
  user(): unknown
  /** A file's content object; null when GitHub would answer 404. Throws what `readText` throws. */
  contents(path: string, ref: string, signal: AbortSignal): Promise<unknown>
}>

/**
 * Answers from the job alone. Only files with hunks exist for PR-Agent: of the others it would make a diff of its own. Text is cleaned
 * and cannot forge lines.
 *
 * @param origin own address; PR-Agent follows no link to another host
 * @param repositoryPath `/repos/<owner>/<name>`
 */
export function shimAnswers(job: ShimJob, origin: string, repositoryPath: string, secrets: readonly string[]): ShimAnswers {
  const { pullRequest, checkout } = job
  const text = (raw: string): string => redact(flattenLines(raw), secrets).text
  const web = pullRequest.webUrl.replace(/\/pull\/\d+$/, "")
  const shown = checkout.changedFiles.filter((file) => file.patch !== null && file.omitted === null)
  const comment = (id: number, body: string): unknown => ({
    id,
    body,
    url: `${origin}${repositoryPath}/issues/comments/${id}`,
    html_url: `${pullRequest.webUrl}#issuecomment-${id}`,
    user: { login: job.botLogin },
  })

  return {
    repository: () => ({ full_name: `${pullRequest.owner}/${pullRequest.repository}`, default_branch: pullRequest.baseRef }),
    pullRequest: () => ({
      number: pullRequest.number,
      issue_url: `${origin}${repositoryPath}/issues/${pullRequest.number}`,
      html_url: pullRequest.webUrl,
      title: text(pullRequest.title),
      body: text(pullRequest.description),
      changed_files: shown.length,
      base: { sha: checkout.baseSha, ref: pullRequest.baseRef },
      head: { sha: checkout.headSha, ref: pullRequest.headRef },
    }),
    commits: () =>
      checkout.commits.map((commit) => ({
        sha: commit.sha,
        html_url: `${web}/commit/${commit.sha}`,
        commit: { message: text(commit.message), author: { date: commit.committedAt } },
      })),
    files: () =>
      shown.map((file) => ({
        filename: file.path,
        status: file.status,
        patch: text(file.patch?.replace(/\n$/, "") ?? ""),
        ...(file.previousPath === null ? {} : { previous_filename: file.previousPath }),
      })),
    comparison: () => ({ merge_base_commit: { sha: checkout.mergeBaseSha } }),
    comments: () => [comment(STATE_COMMENT_ID, job.stateComment)],
    comment,
    user: () => ({ login: job.botLogin }),
    async contents(path, ref, signal) {
      const at = sideOf(checkout, ref)
      if (at === null || !shown.some((file) => pathAt(file, at) === path)) return null
      const content = await checkout.readText(path, at, signal)
      return content === null ? null : { type: "file", encoding: "base64", content: Buffer.from(text(content)).toString("base64") }
    },
  }
}

function sideOf(checkout: Checkout, ref: string): "head" | "mergeBase" | null {
  if (ref === checkout.headSha) return "head"
  return ref === checkout.mergeBaseSha ? "mergeBase" : null
}

/** Where a changed file stood on a side; null where it did not exist. */
function pathAt(file: ChangedFile, at: "head" | "mergeBase"): string | null {
  if (at === "head") return file.status === "removed" ? null : file.path
  return file.status === "added" ? null : (file.previousPath ?? file.path)
}
