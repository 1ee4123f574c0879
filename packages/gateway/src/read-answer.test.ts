// R-GATE-12

import { describe, expect, test } from "vitest"
import { readAnswer, readUsage } from "./read-answer.ts"

const sse = (text: string) => ({ contentType: "text/event-stream; charset=utf-8", text })
const chunk = (delta: object, finish: string | null = null) => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })
const usage = '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}'

describe("a stream", () => {
  test("is read with either line end, comments, several lines of data, and without its end mark", () => {
    const text = `: hello\r\n\r\ndata: ${chunk({ content: "a" })}\r\n\r\n: keep-alive\n\ndata: {"choices":[{"index":0,\ndata: "delta":{"content":"b"},"finish_reason":"stop"}]}\n\ndata: ${usage}`
    expect(readAnswer(sse(text))).toMatchObject({ content: "ab", finishReason: "stop" })
    expect(readUsage(sse(text))).toEqual({ inputTokens: 3, outputTokens: 1 })
  })

  test("ends at its end mark", () => {
    const text = `data: ${chunk({ content: "a" }, "stop")}\n\ndata: [DONE]\n\ndata: ${chunk({ content: "more" })}\n\ndata: ${usage}\n\n`
    expect(readAnswer(sse(text)).content).toBe("a")
    expect(readUsage(sse(text))).toBeNull()
  })

  test("with an error event is the provider's error", () => {
    const text = `data: ${chunk({ content: "a" }, "stop")}\n\nevent: error\ndata: something went wrong\n\n`
    expect(() => readAnswer(sse(text))).toThrow(expect.objectContaining({ code: "model_upstream_error" }))
  })

  test("reports its last usage, and none when that makes no sense", () => {
    const early = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
    expect(readUsage(sse(`data: ${early}\n\ndata: ${usage}\n\n`))?.inputTokens).toBe(3)
    expect(readUsage(sse(`data: ${early}\n\ndata: {"usage":{"prompt_tokens":-1,"completion_tokens":1}}\n\n`))).toBeNull()
  })

  test("answers one choice: others are not there", () => {
    const other = JSON.stringify({
      choices: [
        { index: 1, delta: { tool_calls: [{ index: 0, id: "x", function: { name: "bash", arguments: "{}" } }] }, finish_reason: "stop" },
      ],
    })
    expect(readAnswer(sse(`data: ${chunk({ content: "a" }, "stop")}\n\ndata: ${other}\n\n`))).toMatchObject({ content: "a", toolCalls: [] })
  })
})

describe("tool calls of a stream", () => {
  const read = (...pieces: object[]) =>
    readAnswer(
      sse(
        [...pieces.map((piece) => chunk({ tool_calls: [piece] })), chunk({}, "tool_calls")].map((event) => `data: ${event}\n\n`).join(""),
      ),
    ).toolCalls

  test("are joined by index, also when it starts at one and the name comes late", () => {
    expect(
      read(
        { index: 1, id: "a", function: { arguments: '{"x"' } },
        { index: 2, id: "b", function: { name: "grep", arguments: "{}" } },
        { index: 1, function: { name: "read", arguments: ":1}" } },
        { index: 2, function: { arguments: "" } },
      ),
    ).toEqual([
      { id: "a", name: "read", arguments: '{"x":1}' },
      { id: "b", name: "grep", arguments: "{}" },
    ])
  })

  test("are told apart by id where the provider gives no index", () => {
    expect(
      read(
        { id: "a", function: { name: "read", arguments: "{" } },
        { function: { arguments: "}" } },
        { id: "b", function: { name: "grep", arguments: "{}" } },
      ),
    ).toEqual([
      { id: "a", name: "read", arguments: "{}" },
      { id: "b", name: "grep", arguments: "{}" },
    ])
  })

  test("get an id where the provider gives none, and keep the first name", () => {
    expect(read({ index: 0, function: { name: "read", arguments: "{}" } }, { index: 0, function: { name: "bash" } })).toEqual([
      { id: "call_0", name: "read", arguments: "{}" },
    ])
  })
})
