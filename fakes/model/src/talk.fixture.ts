import { z } from "zod"

/** How long a condition may take on a busy machine. */
export const patience = { timeout: 4_000 }

/** A request body's part that makes the default script call a tool. */
export const requiredTool = {
  tool_choice: "required",
  tools: [
    {
      type: "function",
      function: { name: "note", parameters: { type: "object", required: ["text"], properties: { text: { type: "string" } } } },
    },
  ],
}

const Call = z.object({
  index: z.int(),
  id: z.string().optional(),
  function: z.object({ name: z.string().optional(), arguments: z.string() }),
})
const Event = z.looseObject({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), tool_calls: z.array(Call).optional() }).loose(),
        finish_reason: z.string().nullable(),
      }),
    )
    .optional(),
})

/** Puts a whole event stream together, as a client would. */
export function streamed(text: string) {
  const data = text.split(/\r?\n/).flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []))
  const events = data.filter((line) => line !== "[DONE]").map((line) => Event.parse(JSON.parse(line)))
  const choices = events.flatMap((event) => event.choices ?? [])
  const calls: { id: string; name: string; arguments: string }[] = []
  for (const part of choices.flatMap((choice) => choice.delta.tool_calls ?? [])) {
    const call = calls[part.index] ?? { id: part.id ?? "", name: part.function.name ?? "", arguments: "" }
    calls[part.index] = { ...call, arguments: call.arguments + part.function.arguments }
  }
  return {
    events,
    calls,
    content: choices.map((choice) => choice.delta.content ?? "").join(""),
    finishReasons: choices.flatMap((choice) => choice.finish_reason ?? []),
    done: data.includes("[DONE]"),
    afterDone: data.indexOf("[DONE]") >= 0 ? data.slice(data.indexOf("[DONE]") + 1) : [],
  }
}
