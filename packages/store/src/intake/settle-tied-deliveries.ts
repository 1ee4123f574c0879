import type { Query } from "../database.ts"
import type { DeliveryVerdict } from "./with-intake.ts"

/** Gives the deliveries of a pull request their verdict that could not be told from another one of the same second. */
export async function settleTiedDeliveries(
  { sql }: { sql: Query },
  at: { projectId: string; number: number },
  verdict: DeliveryVerdict,
): Promise<void> {
  await sql`
    update webhook_deliveries set outcome = ${verdict.outcome}, reason = ${verdict.reason}, job_id = ${verdict.jobId ?? null}
    where project_id = ${at.projectId} and pull_request_number = ${at.number} and outcome = 'accepted' and reason = 'same_second'`
}
