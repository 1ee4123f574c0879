import { type GalleyErrorCode, galleyErrorCodes } from "@galley/contract/errors"
import { settleDelivery } from "@galley/store/intake/settle-delivery"
import { settleTiedDeliveries } from "@galley/store/intake/settle-tied-deliveries"
import { failPublication } from "@galley/store/queue/fail-publication"
import { taskQueues } from "@galley/store/tasks"
import { z } from "zod"
import type { ServerContext } from "../context.ts"
import { RefreshTask } from "../intake/refresh-pull-request.ts"
import { CommandTask } from "../intake/resolve-command.ts"

export const PublishTask = z.object({ workspaceId: z.uuid(), jobId: z.uuid() })

/** A task that failed for about a day. */
export type DeadTask = Readonly<{
  /** The queue it failed in. */
  queue: string | null
  data: unknown
  /** What its last attempt threw, as the queue keeps it. */
  fault: unknown
}>

/** The code of the last fault; a worker that vanished leaves none. */
const StoredFault = z.object({ code: z.enum(galleyErrorCodes) })
const codeOf = (fault: unknown): GalleyErrorCode => StoredFault.safeParse(fault).data?.code ?? "internal_error"

/**
 * Ends what a task left behind that failed for about a day. A job that is never published would keep its pull request busy for ever: it fails
 * with the code of the last fault, its result stays on the pages and the last good comment on GitHub. The delivery of a command,
 * and one that GitHub was asked about, say the same code.
 */
export async function endDeadTask({ store, hostId, log }: ServerContext, { queue, data, fault }: DeadTask): Promise<void> {
  const code = codeOf(fault)
  if (queue === taskQueues.publishComment) {
    const { workspaceId, jobId } = PublishTask.parse(data)
    await failPublication(store, { workspaceId, jobId, code, detail: "the comment could not be written for about a day" })
    log.error({ queue, code, jobId }, "task given up")
  } else if (queue === taskQueues.resolveCommandHead) {
    const { deliveryId } = CommandTask.parse(data)
    await settleDelivery(store, { hostId, deliveryId }, { outcome: "ignored", reason: code })
    log.error({ queue, code, deliveryId }, "task given up")
  } else if (queue === taskQueues.refreshPullRequest) {
    const { projectId, number } = RefreshTask.parse(data)
    await settleTiedDeliveries(store, { projectId, number }, { outcome: "ignored", reason: code })
    log.error({ queue, code, projectId, number }, "task given up")
  } else log.error({ queue, code }, "task given up")
}
