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
  await reactToComment(call, { owner: project.owner, repository: project.name, number: command.number }, command.commentId, "eyes")
}
