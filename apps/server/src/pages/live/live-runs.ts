import { listenForRuns } from "@galley/store/wake"
import type { ServerContext } from "../../context.ts"

/** Tells open pages that a run changed. All streams of a server share one LISTEN. */
export type LiveRuns = Readonly<{
  /** Calls `onChange` after each change of the run, and after a reconnection to the database. Returns how to stop. */
  watch(runId: string, onChange: () => void): () => void
  /** Aborts when the server stops; streams end then. */
  stopping: AbortSignal
  /** After so many milliseconds of silence a stream sends a comment. */
  heartbeatMs: number
  close(): Promise<void>
}>

/** Proxies cut connections that stay silent for a minute. */
const HEARTBEAT_MS = 15_000

export async function openLiveRuns(
  { store }: Pick<ServerContext, "store">,
  { heartbeatMs = HEARTBEAT_MS }: { heartbeatMs?: number } = {},
): Promise<LiveRuns> {
  const watchers = new Map<string, Set<() => void>>()
  const stopping = new AbortController()
  const listener = await listenForRuns(store.sql, (change) => {
    const concerned = change === null ? [...watchers.values()] : [watchers.get(change.runId) ?? []]
    for (const onChange of concerned.flatMap((some) => [...some])) onChange()
  })
  return {
    watch(runId, onChange) {
      const some = watchers.get(runId) ?? new Set()
      watchers.set(runId, some.add(onChange))
      return () => {
        some.delete(onChange)
        if (some.size === 0) watchers.delete(runId)
      }
    },
    stopping: stopping.signal,
    heartbeatMs,
    async close() {
      stopping.abort()
      await listener.close()
    },
  }
}
