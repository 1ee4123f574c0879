import { ReviewKind } from "@galley/contract/settings"
import { Sha } from "@galley/contract/sha"
import { z } from "zod"

/** `GET /w/:slug/deliveries/:id`: the answer to "why no review?" for one delivery. 404 for a delivery of another workspace. */
export const DeliveryAnswer = z.strictObject({
  delivery: z.strictObject({
    deliveryId: z.uuid(),
    event: z.string(),
    action: z.string().nullable(),
    /** `received`: a task has still to look at the pull request. */
    outcome: z.enum(["received", "queued", "cancelled", "accepted", "ignored"]),
    /** A stable word, e.g. `draft`; null when a job was queued. */
    reason: z.string().nullable(),
    projectId: z.uuid().nullable(),
    pullRequestNumber: z.int().nullable(),
    receivedAt: z.iso.datetime(),
  }),
  job: z
    .strictObject({
      id: z.uuid(),
      state: z.enum(["waiting", "running", "publishing", "succeeded", "failed", "cancelled", "superseded", "skipped"]),
      kind: ReviewKind,
      headSha: Sha,
      code: z.string().nullable(),
      detail: z.string().nullable(),
      /** Of its newest attempt. */
      runId: z.uuid().nullable(),
    })
    .nullable(),
})
export type DeliveryAnswer = z.infer<typeof DeliveryAnswer>
