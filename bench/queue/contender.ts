/** A queue as the benchmark drives it. */
export type Contender = Readonly<{
  /** Queues one job, durably. */
  enqueue(): Promise<void>
  /** Takes one job and completes it, durably; false when none is waiting. Null: the queue runs jobs itself, see `process`. */
  cycle: (() => Promise<boolean>) | null
  /** Lets the queue's own workers take and complete jobs that do nothing. @returns jobs a second */
  process?: (lanes: number, durationMs: number) => Promise<number>
  /** Puts so many jobs into the queue at once. */
  fill(jobs: number): Promise<void>
  /** Gives the planner its statistics. */
  analyze(): Promise<void>
  close(): Promise<void>
}>

/** What a job of a peer carries: about as much as Galley's row. */
export const JOB_DATA = {
  repository: "octo/hello-world",
  number: 7,
  head: "a".repeat(40),
  base: "b".repeat(40),
  kind: "diff",
  cause: "event",
}

/** Connections of every contender. */
export const POOL = 10
