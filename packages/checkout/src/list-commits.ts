import type { Commit } from "./checkout.ts"
import { type Git, gitRefused, runGit } from "./git.ts"

/** As many as GitHub lists for a pull request. */
const MAX_COMMITS = 250
/** Bytes of all messages together; older commits are left out beyond it. */
const MAX_LOG_BYTES = 1024 * 1024
const MAX_MESSAGE_CHARACTERS = 8 * 1024

/** The commits of the pull request, newest first: reachable from the head and not from the base. Messages are cut to 8 KiB. */
export async function listCommits(
  git: Git,
  history: string,
  tips: Readonly<{ headSha: string; baseSha: string }>,
  signal: AbortSignal,
): Promise<Commit[]> {
  const args = ["log", "-z", `--max-count=${MAX_COMMITS}`, "--no-mailmap", "--no-notes", "--format=%H %cI%n%B"]
  const command = { repository: history, args: [...args, tips.headSha, `^${tips.baseSha}`], maxOutputBytes: MAX_LOG_BYTES }
  const result = await runGit(git, command, signal)
  if (result.code !== 0 && !result.cut) throw gitRefused(command, result)
  const records = `${result.stdout.toString("utf8")}${result.cut ? "" : "\0"}`.split("\0").slice(0, -1)
  return records.filter((record) => record !== "").map(parseCommit)
}

function parseCommit(record: string): Commit {
  const end = record.indexOf("\n")
  const [sha = "", committedAt = ""] = record.slice(0, end).split(" ")
  return {
    sha,
    committedAt,
    message: record
      .slice(end + 1)
      .trimEnd()
      .slice(0, MAX_MESSAGE_CHARACTERS),
  }
}
