import { setTimeout as delay } from "node:timers/promises"
import type { Sql } from "postgres"

/** Payload: milliseconds until the job is due. */
export const JOB_CHANNEL = "galley_jobs"
/** Payload: `<workspace id>:<run id>`. */
export const RUN_CHANNEL = "galley_runs"

/** Sends hints after commit; they may be lost, so every listener also polls slowly. */
export interface Notifier {
  notify(payload: string): void
  /** Calls `onHint` at once for what this notifier sends, before the database tells everybody. */
  subscribe(onHint: (payload: string) => void): () => void
  /** Resolves when everything asked for so far was sent or given up. */
  idle(): Promise<void>
}

/** A hint after a quiet time goes out at once; those that follow it wait so long and go together, because each NOTIFY costs a commit. */
const GATHER_MS = 20

/**
 * Coalesces: at most one NOTIFY under way or just sent, and equal payloads that come meanwhile go out once. NOTIFY takes a database-wide
 * lock at commit, so it is never sent inside the transaction that caused it.
 */
export function createNotifier(sql: Sql, channel: string, onError: (error: unknown) => void): Notifier {
  const pending = new Set<string>()
  const subscribers = new Set<(payload: string) => void>()
  let sending: Promise<void> | null = null

  async function send(): Promise<void> {
    while (pending.size > 0) {
      const payloads = [...pending]
      pending.clear()
      try {
        await sql`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) payload`
      } catch (error) {
        onError(error)
      }
      await delay(GATHER_MS)
    }
    sending = null
  }

  return {
    notify(payload) {
      for (const onHint of subscribers) onHint(payload)
      pending.add(payload)
      sending ??= send()
    },
    subscribe(onHint) {
      subscribers.add(onHint)
      return () => subscribers.delete(onHint)
    },
    idle: async () => {
      await sending
    },
  }
}

export interface Listener {
  close(): Promise<void>
}

/**
 * Calls `onWake` when a waiting job is due: at once, or by a timer for a job that is still debounced, and after every (re)connection,
 * because hints sent meanwhile are lost. A half-open connection goes unnoticed; the caller's slow poll covers that.
 *
 * @param local of this process: its hints come without the way through the database, which is a commit and two round trips
 */
export async function listenForJobs(sql: Sql, local: Notifier, onWake: () => void): Promise<Listener> {
  const timers = new Map<number, NodeJS.Timeout>()
  const wakeAfter = (delayMs: number) => {
    const second = Math.ceil((performance.now() + delayMs) / 1000)
    if (timers.has(second)) return
    const timer = setTimeout(() => {
      timers.delete(second)
      onWake()
    }, delayMs)
    timers.set(second, timer)
  }
  const onHint = (payload: string) => {
    const delayMs = Number(payload)
    if (delayMs > 0) wakeAfter(delayMs)
    else onWake()
  }
  const { unlisten } = await sql.listen(JOB_CHANNEL, onHint, onWake)
  const unsubscribe = local.subscribe(onHint)
  return {
    close: async () => {
      unsubscribe()
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
      await unlisten()
    },
  }
}

/** Calls `onChange` for each run that changed phase, progress or outcome, and with null after a (re)connection. */
export async function listenForRuns(
  sql: Sql,
  onChange: (change: { workspaceId: string; runId: string } | null) => void,
): Promise<Listener> {
  const { unlisten } = await sql.listen(
    RUN_CHANNEL,
    (payload) => {
      const [workspaceId = "", runId = ""] = payload.split(":")
      onChange({ workspaceId, runId })
    },
    () => onChange(null),
  )
  return { close: unlisten }
}
