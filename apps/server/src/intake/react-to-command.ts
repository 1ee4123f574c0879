import { errorCode } from "@galley/contract/errors"
import { finalFaults } from "@galley/github/final-faults"
import { reactToComment } from "@galley/github/summary-comment"
import { getProjectAddress } from "@galley/store/projects/get-project-address"
import type { ServerContext } from "../context.ts"

/** Shows the commander within seconds that the command was seen. */
export async function reactToCommand(
  context: ServerContext,
  command: Readonly<{ workspaceId: string; projectId: string; number: number; commentId: number }>,
): Promise<void> {
  const project = await getProjectAddress(context.store, command.workspaceId, command.projectId)
  if (project === null) return
  const call = context.github.forRepository(project.githubInstallationId, project.githubRepositoryId)
  const at = { owner: project.owner, repository: project.name, number: command.number }
  try {
    await reactToComment(call, at, command.commentId, "eyes")
  } catch (error) {
    // The comment is gone or may not be touched; the review itself does not depend on it.
    if (!finalFaults.has(errorCode(error))) throw error
    context.log.info({ code: errorCode(error), number: command.number }, "command could not be acknowledged")
  }
}
