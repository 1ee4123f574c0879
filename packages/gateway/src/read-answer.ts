import { GalleyError } from "@galley/contract/errors"
import { createParser } from "eventsource-parser"
import { z } from "zod"
import type { TokenUsage } from "./ledger.ts"
import { parseJson } from "./parse-json.ts"

export type ToolCall = Readonly<{ id: string; name: string; arguments: string }>

/** A whole model answer, however it came. Only this is shown to the engine, so it sees nothing that was not checked. */
export type ModelAnswer = Readonly<{
  content: string
  reasoning: string
  toolCalls: readonly ToolCall[]
  finishReason: string
}>

const Delta = z.object({
  content: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  tool_calls: z
    .array(
      z.object({
        index: z.int().min(0).max(1_000).nullish(),
        id: z.string().nullish(),
        function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
      }),
    )
    .nullish(),
})

/** A chunk of a stream, or the whole body of an answer that is not streamed: `message` then stands for `delta`. */
const Chunk = z.object({
  choices: z
    .array(z.object({ index: z.int().nullish(), delta: Delta.nullish(), message: Delta.nullish(), finish_reason: z.string().nullish() }))
    .nullish(),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
})
type Chunk = z.infer<typeof Chunk>

const ReportedUsage = z.object({ prompt_tokens: z.int().min(1), completion_tokens: z.int().min(0), total_tokens: z.int().nullish() })

/** The body of a 2xx answer, whole or as far as it came. */
export type AnswerBody = Readonly<{ contentType: string; text: string }>

/**
 * Puts a streamed or plain answer together. Choices other than the first are ignored: none was asked for.
 *
 * Throws `model_stream_invalid` when it is no chat completion, is malformed or ends without a finish reason, `model_upstream_error` when
 * the provider reports an error inside it.
 */
export function readAnswer(body: AnswerBody): ModelAnswer {
  const chunks = readEvents(body).map(parseChunk)
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []).filter((choice) => (choice.index ?? 0) === 0)
  const deltas = choices.flatMap((choice) => choice.delta ?? choice.message ?? [])
  const finishReason = choices.findLast((choice) => choice.finish_reason)?.finish_reason
  if (!finishReason) throw new GalleyError("model_stream_invalid", "the answer ended without a finish reason")
  return {
    content: deltas.map((delta) => delta.content ?? "").join(""),
    reasoning: deltas.map((delta) => delta.reasoning_content ?? "").join(""),
    toolCalls: joinToolCalls(deltas),
    finishReason,
  }
}

/**
 * The last usage the body reports; null when there is none that makes sense. Also for a body that broke off.
 *
 * Some providers leave reasoning out of `completion_tokens`; the total has it, so the larger of both counts.
 */
export function readUsage(body: AnswerBody): TokenUsage | null {
  for (const event of readEvents(body).reverse()) {
    const reported = Chunk.safeParse(parseJson(event)).data?.usage
    if (reported === null || reported === undefined) continue
    const usage = ReportedUsage.safeParse(reported).data
    if (usage === undefined) return null
    const { prompt_tokens: inputTokens, completion_tokens: completion, total_tokens: total } = usage
    return { inputTokens, outputTokens: Math.max(completion, (total ?? 0) - inputTokens) }
  }
  return null
}

/** JSON texts of the body in order, up to the end mark of a stream. Error events of a stream become chunks with an error. */
function readEvents(body: AnswerBody): string[] {
  if (!body.contentType.includes("text/event-stream")) return [body.text]
  const events: string[] = []
  const parser = createParser({ onEvent: (event) => events.push(event.event === "error" ? '{"error":true}' : event.data) })
  // The last event counts even when the provider leaves out the empty line after it.
  parser.feed(`${body.text}\n\n`)
  const done = events.indexOf("[DONE]")
  return done < 0 ? events : events.slice(0, done)
}

function parseChunk(event: string): Chunk {
  const chunk = Chunk.safeParse(parseJson(event))
  if (!chunk.success) throw new GalleyError("model_stream_invalid", "the answer is no chat completion")
  if (chunk.data.error) throw new GalleyError("model_upstream_error", "the provider reported an error inside its answer")
  return chunk.data
}

/** Joins the pieces of every call. A piece without an index belongs to the latest call unless it brings a new id. */
function joinToolCalls(deltas: ReadonlyArray<z.infer<typeof Delta>>): ToolCall[] {
  const calls = new Map<number, { id: string; name: string; arguments: string }>()
  let latest = -1
  for (const piece of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const index = piece.index ?? (piece.id && piece.id !== calls.get(latest)?.id ? latest + 1 : latest)
    const call = calls.get(index) ?? { id: "", name: "", arguments: "" }
    calls.set(index, {
      id: call.id || (piece.id ?? ""),
      name: call.name || (piece.function?.name ?? ""),
      arguments: call.arguments + (piece.function?.arguments ?? ""),
    })
    latest = index
  }
  return [...calls.values()].map((call, at) => {
    if (call.name === "") throw new GalleyError("model_stream_invalid", "a tool call has no name")
    return { ...call, id: call.id || `call_${at}` }
  })
}
