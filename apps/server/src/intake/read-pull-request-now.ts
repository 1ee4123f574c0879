import { errorCode, type GalleyErrorCode } from "@galley/contract/errors"
import { finalFaults } from "@galley/github/final-faults"
import { type PullRequest, readPullRequest } from "@galley/github/pull-request"
import type { PullRequestSnapshot } from "@galley/store/intake/upsert-pull-request"
import { getProjectAddress } from "@galley/store/projects/get-project-address"
import type { ServerContext } from "../context.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"

/** A pull request as GitHub shows it, and as the store keeps it. */
export type PullRequestNow = Readonly<{ pull: PullRequest; snapshot: PullRequestSnapshot }>

/**
 * Reads a pull request from GitHub, or tells why it can never be read: `repository_gone`, or GitHub's final fault.
 *
 * @throws codes of `githubFault` that another attempt may mend
 */
export async function readPullRequestNow(
  { store, github, config }: ServerContext,
  { workspaceId, projectId, number }: Readonly<{ workspaceId: string; projectId: string; number: number }>,
): Promise<PullRequestNow | { fault: GalleyErrorCode }> {
  const project = await getProjectAddress(store, workspaceId, projectId)
  if (project === null) return { fault: "repository_gone" }
  const call = github.forRepository(project.githubInstallationId, project.githubRepositoryId)
  try {
    const pull = await readPullRequest(call, { owner: project.owner, repository: project.name, number })
    return { pull, snapshot: pullRequestSnapshot(pull, `${config.github.webUrl}/${project.owner}/${project.name}`) }
  } catch (error) {
    if (!finalFaults.has(errorCode(error))) throw error
    return { fault: errorCode(error) }
  }
}
