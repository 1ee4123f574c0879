/** One webhook that GitHub's list of deliveries knows. */
export type DeliveryRecord = Readonly<{
  id: string
  event: string
  /** Some attempt was answered with 2xx. */
  acknowledged: boolean
  /** The database has it. */
  stored: boolean
}>

/** One pull request as GitHub and the database have it. */
export type PullRequestRecord = Readonly<{
  jobs: readonly Readonly<{ state: string; code: string | null; headSha: string }>[]
  /** Head of each run that was published. */
  publishedShas: readonly string[]
  /** Reviewed head of each bot comment that stands there; null where none can be read. */
  commentShas: readonly (string | null)[]
  /** Bot comments that were ever written there, deleted ones included. */
  commentsWritten: number
}>

/** What a run left behind. */
export type World = Readonly<{
  pullRequests: ReadonlyMap<number, PullRequestRecord>
  deliveries: readonly DeliveryRecord[]
  /** What had not come to rest when the time was up, in words. */
  unfinished: readonly string[]
}>
