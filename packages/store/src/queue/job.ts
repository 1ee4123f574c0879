/** States of a job. `running` and `publishing` are busy: a pull request has at most one busy and one waiting job. */
export const jobStates = ["waiting", "running", "publishing", "succeeded", "failed", "cancelled", "superseded", "skipped"] as const
export type JobState = (typeof jobStates)[number]

/** What asked for the job: a pull request event, a `/review` comment, a person on the pages, or the reconciler after an outage. */
export type JobCause = "event" | "command" | "manual" | "reconciler"

/** Asked for by a person: taken before automatic jobs of the same workspace, and never debounced. */
export const URGENT_PRIORITY = 10
export const AUTOMATIC_PRIORITY = 0
