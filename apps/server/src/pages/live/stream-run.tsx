import { GalleyError } from "@galley/contract/errors"
import { getRun, type RunDetail } from "@galley/store/runs/get-run"
import { findSession } from "@galley/store/sessions/find-session"
import { getWorkspace } from "@galley/store/workspaces/get-workspace"
import { type SSEStreamingApi, streamSSE } from "hono/streaming"
import { readSessionCookie } from "../access/session-cookie.ts"
import type { PageContext, PageParts } from "../page-env.ts"
import { isOver, RunBody, RunStatus } from "../views/run-parts.tsx"

/**
 * Sends a run's live sections anew after each change, as events `status` and `body`, and `over` at its end. Silence is filled with
 * comments, because proxies cut silent connections. Ends with the connection, the server or the visitor's access.
 */
export async function streamRun({ context, liveRuns }: PageParts, c: PageContext, runId: string): Promise<Response> {
  const { slug } = c.get("workspace")
  const session = readSessionCookie(c, context.config.publicUrl) ?? ""
  /** The run as the visitor may see it now: sessions end and members leave while a page stays open. */
  const load = async (): Promise<RunDetail> => {
    const user = await findSession(context.store, session)
    if (user === null) throw new GalleyError("sign_in_required", "sign in first")
    return getRun(context.store, (await getWorkspace(context.store, user.userId, slug)).id, runId)
  }
  // Whoever may not see the run gets an error, not a stream.
  await load()
  const response = streamSSE(c, async (stream) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    const ending = AbortSignal.any([gone.signal, liveRuns.stopping])
    let changed = Promise.withResolvers<void>()
    ending.addEventListener("abort", () => changed.resolve())
    const unwatch = liveRuns.watch(runId, () => changed.resolve())
    try {
      while (!ending.aborted) {
        // Before the read, so that a change during it is not missed.
        changed = Promise.withResolvers()
        const detail = await load()
        await sendRun(stream, detail)
        if (isOver(detail)) return
        while (!ending.aborted && !(await settlesWithin(changed.promise, liveRuns.heartbeatMs))) await stream.write(": still here\n\n")
      }
    } catch (error) {
      if (!(error instanceof GalleyError)) context.log.warn({ err: error, runId }, "live run stream failed")
    } finally {
      unwatch()
    }
  })
  // Proxies that buffer would hold events back.
  response.headers.set("X-Accel-Buffering", "no")
  return response
}

async function sendRun(stream: SSEStreamingApi, detail: RunDetail): Promise<void> {
  await stream.writeSSE({ event: "status", data: (<RunStatus detail={detail} />).toString() })
  await stream.writeSSE({ event: "body", data: (<RunBody detail={detail} />).toString() })
  if (isOver(detail)) await stream.writeSSE({ event: "over", data: "" })
}

async function settlesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const silence = Promise.withResolvers<false>()
  const timer = setTimeout(silence.resolve, ms, false)
  try {
    return await Promise.race([promise.then(() => true), silence.promise])
  } finally {
    clearTimeout(timer)
  }
}
