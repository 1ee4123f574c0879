// R-FAKE-2

import { isUtf8 } from "node:buffer"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type FakeModel, startFakeModel } from "./fake-model.ts"
import { type Mode, type ModeName, parseMode } from "./modes.ts"
import type { Step } from "./step.ts"
import { patience, requiredTool, streamed } from "./talk.fixture.ts"

let fake: FakeModel
beforeEach(async () => {
  fake = await startFakeModel()
})
afterEach(() => fake.close())

const messages = [{ role: "user", content: "Hello" }]
const stream = { stream: true, stream_options: { include_usage: true } }

type Asked = Readonly<{ body?: object; step?: Step; signal?: AbortSignal }>

const ask = (mode: Mode, { body = {}, step = {}, signal }: Asked = {}) => {
  fake.setScript([{ ...step, mode }])
  return fetch(`${fake.url}/chat/completions`, {
    method: "POST",
    redirect: "manual",
    body: JSON.stringify({ model: "m", messages, ...body }),
    ...(signal ? { signal } : {}),
  })
}
const json = async (name: ModeName, asked: Asked = {}) => (await ask({ name }, asked)).json()
const events = async (mode: Mode, step: Step = {}, body: object = {}) =>
  streamed(await (await ask(mode, { step, body: { ...stream, ...body } })).text())

/** Reads until `enough` of the text is there, the answer ends or the connection breaks. */
const readUntil = async (response: Response, enough: (text: string) => boolean = () => false) => {
  const reader = response.body?.getReader()
  let text = ""
  while (!enough(text)) {
    const part = await reader?.read().catch(() => "broken" as const)
    if (part === "broken") return { text, end: "broken" }
    if (part === undefined || part.done) return { text, end: "complete" }
    text += new TextDecoder().decode(part.value)
  }
  await reader?.cancel()
  return { text, end: "left open" }
}
/** The client has left, and the server was not done: it would have stayed silent. */
const wasWaiting = () => expect.poll(() => fake.requests[0]?.abandoned, patience).toBe(true)

describe("instead of an answer", () => {
  test.each([400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504] as const)("status %i", async (status) => {
    const response = await ask({ name: `status-${status}` })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { type: "scripted" } })
  })

  test("a rate limit says when to come back", async () => {
    expect((await ask({ name: "status-429" })).headers.get("retry-after")).toBe("1")
    expect((await ask({ name: "status-429", n: 30 })).headers.get("retry-after")).toBe("30")
  })

  test("a required tool is refused the way thinking models do it, other requests are not", async () => {
    const refused = await ask({ name: "no-required-tools" }, { body: requiredTool })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain("Thinking mode does not support this tool_choice")
    expect((await ask({ name: "no-required-tools" })).status).toBe(200)
  })

  test("a redirect leads to another path, where a follower would be recorded", async () => {
    const response = await ask({ name: "redirect" })
    expect(response.status).toBe(302)
    await fetch(response.headers.get("location") ?? "", { method: "POST", body: "{}" })
    expect(fake.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/elsewhere/v1/chat/completions"])
  })

  test("a page or a text that is no JSON comes with status 200", async () => {
    const page = await ask({ name: "html" })
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html"])
    await expect(json("not-json")).rejects.toThrow(SyntaxError)
  })
})

describe("the connection", () => {
  test("hangs before the headers", async () => {
    const leave = new AbortController()
    const outcome = ask({ name: "hang" }, { signal: leave.signal }).then(
      () => "answered",
      () => "still waiting",
    )
    await expect.poll(() => fake.requests.length, patience).toBe(1)
    leave.abort()
    expect(await outcome).toBe("still waiting")
  })

  test("breaks before the headers", async () => {
    await expect(ask({ name: "reset-early" })).rejects.toThrow()
  })

  test.each([{ body: {} }, { body: stream }])("stays silent after the headers of %j", async (asked) => {
    expect(await readUntil(await ask({ name: "headers-only" }, asked), () => true)).toEqual({ text: "", end: "left open" })
    await wasWaiting()
  })

  test("stalls after some events", async () => {
    const response = await ask({ name: "stall", n: 3 }, { body: stream })
    const { text } = await readUntil(response, (all) => all.split("\n\n").length > 3)
    expect(streamed(text).events).toHaveLength(3)
    await wasWaiting()
  })

  test("stalls in the middle of a JSON body", async () => {
    const { text, end } = await readUntil(await ask({ name: "stall" }), (all) => all.length >= 128)
    expect([text.length, end]).toEqual([128, "left open"])
    await wasWaiting()
  })

  test("breaks after some events", async () => {
    const { text, end } = await readUntil(await ask({ name: "reset" }, { body: stream }))
    expect(end).toBe("broken")
    expect(streamed(text).events).toHaveLength(2)
  })

  test.each([{ body: {} }, { body: stream }])("never ends for %j, until the client leaves", async (asked) => {
    const { end } = await readUntil(await ask({ name: "endless" }, asked), (all) => all.length > 300)
    expect(end).toBe("left open")
    await wasWaiting()
  })

  test("drips one event after the other", async () => {
    const started = performance.now()
    const { events: all, done } = await events({ name: "drip", n: 10 }, { say: "Hi" })
    expect(done).toBe(true)
    expect(performance.now() - started).toBeGreaterThan(10 * all.length)
  })

  test.each([{ body: {} }, { body: stream }])("splits a character between two packets of %j", async (asked) => {
    const parts = async () => {
      const response = await ask({ name: "split-utf8" }, { ...asked, step: { say: "review" } })
      const all: Buffer[] = []
      for await (const bytes of response.body ?? []) all.push(Buffer.from(bytes))
      return all
    }
    // On a busy machine both packets may arrive as one.
    await expect.poll(async () => isUtf8((await parts())[0] ?? Buffer.alloc(0)), patience).toBe(false)
    expect(Buffer.concat(await parts()).toString()).toContain("🦀")
  })
})

describe("the event stream", () => {
  test("has CRLF line ends", async () => {
    const text = await (await ask({ name: "crlf" }, { body: stream })).text()
    expect(text.match(/\r\n\r\n/g)?.length).toBeGreaterThan(3)
    expect(text.replaceAll("\r\n", "")).not.toContain("\n")
    expect(streamed(text)).toMatchObject({ content: "This is the scripted model.", done: true })
  })

  test("has comments between events", async () => {
    const text = await (await ask({ name: "comments" }, { body: stream })).text()
    expect(text).toMatch(/^: keepalive\n\ndata: /)
    expect(streamed(text)).toMatchObject({ content: "This is the scripted model.", done: true })
  })

  test("ends without [DONE]", async () => {
    expect(await events({ name: "no-done" })).toMatchObject({
      content: "This is the scripted model.",
      finishReasons: ["stop"],
      done: false,
    })
  })

  test("goes on after [DONE]", async () => {
    expect((await events({ name: "after-done" })).afterDone).toHaveLength(1)
  })

  test("holds an error after some events", async () => {
    const { events: all, done } = await events({ name: "error-event" })
    expect(all).toHaveLength(3)
    expect(all.at(-1)).toEqual({ error: { message: "scripted error", type: "scripted" } })
    expect(done).toBe(false)
  })

  test("tells the usage before the finish reason", async () => {
    const { events: all } = await events({ name: "usage-early" })
    expect(all.at(-2)).toMatchObject({ choices: [], usage: {} })
    expect(all.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }] })
  })
})

describe.each([
  ["plain", {}],
  ["streamed", stream],
])("a %s answer", (_, form) => {
  /** What a client understands of either form. */
  const answer = async (name: ModeName, step: Step = {}, body: object = {}) => {
    const text = await (await ask({ name }, { step, body: { ...form, ...body } })).text()
    if ("stream" in form) {
      const { content, calls, finishReasons, events: all } = streamed(text)
      return {
        content,
        calls: calls.map((call) => [call.name, call.arguments]),
        finish: finishReasons[0] ?? null,
        usage: all.at(-1)?.usage,
        choices: all.flatMap((event) => event.choices ?? []).length,
      }
    }
    const { choices, usage } = JSON.parse(text)
    const { message = {}, finish_reason: finish = null } = choices[0] ?? {}
    const calls = (message.tool_calls ?? []).map((call: { function: { name: string; arguments: string } }) => [
      call.function.name,
      call.function.arguments,
    ])
    return { content: message.content ?? "", calls, finish, usage, choices: choices.length }
  }
  const call: Step = { calls: [{ name: "read", args: { filePath: "/a" } }] }

  test("without usage", async () => {
    expect((await answer("no-usage")).usage).toBeUndefined()
  })

  test("with impossible usage", async () => {
    expect((await answer("usage-negative")).usage).toEqual({ prompt_tokens: -5, completion_tokens: -3, total_tokens: -8 })
    expect((await answer("usage-text")).usage).toEqual({ prompt_tokens: "12", completion_tokens: "3", total_tokens: "15" })
  })

  test("cut in the middle, for length or by a filter", async () => {
    expect(await answer("finish-length", { say: "12345678" })).toMatchObject({ content: "1234", finish: "length" })
    expect(await answer("finish-content-filter", call)).toMatchObject({ calls: [["read", '{"filePa']], finish: "content_filter" })
  })

  test("without a finish reason", async () => {
    expect(await answer("finish-null", { say: "Hi" })).toMatchObject({ content: "Hi", finish: null })
  })

  test("without choices", async () => {
    expect((await answer("no-choices")).choices).toBe(0)
  })

  test("without content", async () => {
    expect(await answer("null-content", call)).toMatchObject({ content: "", calls: [], finish: "stop" })
  })

  test("in prose or garbage instead of a tool call", async () => {
    expect(await answer("prose", call, requiredTool)).toMatchObject({
      content: expect.stringMatching(/^I looked/),
      calls: [],
      finish: "stop",
    })
    expect(await answer("garbage", call)).toMatchObject({ content: expect.stringContaining("{{"), calls: [] })
  })

  test("that calls a tool nobody offered", async () => {
    expect((await answer("unknown-tool", call)).calls).toEqual([["bash", '{"command":"id"}']])
  })

  test("with arguments that are no JSON", async () => {
    expect((await answer("broken-arguments", call)).calls).toEqual([["read", '{"filePath": ']])
  })

  test("with many calls at once", async () => {
    const { calls } = await answer("parallel-calls", call)
    expect(calls).toHaveLength(60)
    expect(new Set(calls.map(String))).toEqual(new Set(['read,{"filePath":"/a"}']))
  })

  test("with the result twice", async () => {
    const result: Step = { calls: [{ name: "StructuredOutput", args: {} }] }
    expect((await answer("double-result", result)).calls).toEqual([
      ["StructuredOutput", "{}"],
      ["StructuredOutput", "{}"],
    ])
    expect((await answer("double-result", call)).calls).toHaveLength(1)
  })
})

test("the number of parallel calls can be chosen", async () => {
  expect((await events({ name: "parallel-calls", n: 3 }, {}, requiredTool)).calls.map(({ id }) => id)).toEqual([
    "call_1_0",
    "call_1_1",
    "call_1_2",
  ])
})

test("a mode is spelled as a name, or a name and a number", () => {
  expect(parseMode("hang")).toEqual({ name: "hang" })
  expect(parseMode("stall:5")).toEqual({ name: "stall", n: 5 })
  for (const wrong of ["", "unknown", "stall:", "stall:x", "stall:-1", "toString"]) expect(() => parseMode(wrong), wrong).toThrow()
})
