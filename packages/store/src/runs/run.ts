/** How one attempt ended; `lost` = its lease ran out, `released` = its runner was drained. */
export type RunOutcome = "running" | "reviewed" | "skipped" | "failed" | "lost" | "released" | "cancelled" | "superseded"
