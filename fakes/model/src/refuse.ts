import type { ChatRequest } from "./chat-request.ts"
import type { Mode } from "./modes.ts"

/** A whole HTTP answer. */
export type Reply = Readonly<{ status: number; headers: Readonly<Record<string, string>>; body: string }>

/** An error in the shape OpenAI-compatible servers use. */
export function errorReply(status: number, message: string, code: string, headers: Readonly<Record<string, string>> = {}): Reply {
  const body = JSON.stringify({ error: { message, type: "scripted", code } })
  return { status, headers: { "content-type": "application/json", ...headers }, body }
}

/** What a mode answers instead of a completion, or null when it lets one through. `origin` is this server's own address. */
export function refuse(mode: Mode | null, request: ChatRequest, origin: string): Reply | null {
  switch (mode?.name) {
    case "status-429":
      return errorReply(429, "scripted status", "scripted", { "retry-after": String(mode.n ?? 1) })
    case "no-required-tools":
      return request.tool_choice === "required" || typeof request.tool_choice === "object"
        ? errorReply(400, "Thinking mode does not support this tool_choice", "invalid_request_error")
        : null
    case "redirect":
      return { status: 302, headers: { location: `${origin}/elsewhere/v1/chat/completions` }, body: "" }
    case "html":
      return { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Sign in</title><p>Please sign in." }
    case "not-json":
      return { status: 200, headers: { "content-type": "application/json" }, body: "upstream connected, no body" }
    default:
      return mode?.name.startsWith("status-") ? errorReply(Number(mode.name.slice(7)), "scripted status", "scripted") : null
  }
}
