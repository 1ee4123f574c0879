import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import type { Mode } from "./modes.ts"
import type { Spelled } from "./spell-answer.ts"

const SPLIT_PAUSE_MS = 20
const ENDLESS_PAUSE_MS = 5

/**
 * Sends an answer, or as much of it as the mode lets through. Returns when it is sent; a silent mode returns at once and leaves the
 * connection open, the client or the end of the server closes it.
 *
 * @param signal aborted when the client is gone
 */
export async function sendAnswer(
  response: ServerResponse,
  { contentType, frames, filler }: Spelled,
  mode: Mode | null,
  signal: AbortSignal,
) {
  response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache" })
  response.flushHeaders()
  const write = async (bytes: string | Uint8Array) => {
    if (!response.write(bytes)) await once(response, "drain", { signal })
  }
  switch (mode?.name) {
    case "headers-only":
      return
    case "stall":
      for (const frame of frames.slice(0, mode.n ?? 2)) await write(frame)
      return
    case "reset":
      for (const frame of frames.slice(0, mode.n ?? 2)) await write(frame)
      // What was written must leave before the reset, which discards everything still waiting.
      await wait(SPLIT_PAUSE_MS, undefined, { signal })
      response.socket?.resetAndDestroy()
      return
    case "endless":
      for (const frame of frames.slice(0, 2)) await write(frame)
      while (!signal.aborted) {
        await write(filler)
        await wait(ENDLESS_PAUSE_MS, undefined, { signal })
      }
      return
    case "drip":
      for (const frame of frames) {
        await write(frame)
        await wait(mode.n ?? 100, undefined, { signal })
      }
      break
    case "split-utf8": {
      const bytes = Buffer.from(frames.join(""))
      const middle = bytes.findIndex((byte) => byte >= 0xc0) + 1
      await write(bytes.subarray(0, middle))
      await wait(SPLIT_PAUSE_MS, undefined, { signal })
      await write(bytes.subarray(middle))
      break
    }
    default:
      await write(frames.join(""))
  }
  response.end()
}
