import { failPublication } from "@galley/store/queue/fail-publication"
import { z } from "zod"
import type { ServerContext } from "../context.ts"

export const PublishTask = z.object({ workspaceId: z.uuid(), jobId: z.uuid() })

/**
 * Ends what a task left behind that failed for about a day: a job that is never published would keep its pull request busy for ever. The
 * result stays on the pages and the last good comment on GitHub.
 */
export async function endDeadTask({ store, log }: ServerContext, data: unknown): Promise<void> {
  const publication = PublishTask.safeParse(data)
  if (publication.success) {
    await failPublication(store, {
      ...publication.data,
      code: "attempts_exhausted",
      detail: "the comment could not be written for about a day",
    })
  }
  log.error({ jobId: publication.data?.jobId }, "task given up")
}
