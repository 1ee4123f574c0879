import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { GatewayVerdict } from "./gateway.ts"
import { API_KEY, callModel, dynamicRequest, dynamicTools, hello, openGateway, TOKEN } from "./testing/gateway-for-tests.ts"
import { completion, json, stream, toolCalls, usage } from "./testing/scripted-model.ts"

/** The words and digits on which an engine would call again. */
const retryWords = /\d|rate.?limit|try again|server.?error|overload|exhaust|connection|timeout|unavailable|capacity/i

describe("a model call", () => {
  test("reaches the provider with its own key and model id, and comes back neutral", async () => {
    const { gateway, model } = await openGateway([completion({ content: "fine" })])
    const answer = await callModel(gateway, { ...hello, temperature: 0.2, max_tokens: 100 })
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toMatchObject({
      model: "review",
      choices: [{ message: { content: "fine" }, finish_reason: "stop" }],
      usage,
    })
    expect(model.calls).toHaveLength(1)
    expect(model.calls[0]).toMatchObject({ method: "POST", url: "/v1/chat/completions" })
    expect(model.calls[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`)
    expect(model.calls[0]?.body).toEqual({ ...hello, model: "vendor/large-3", temperature: 0.2, max_tokens: 100, stream: false })
    expect(gateway.verdict()).toBeNull()
    expect(gateway.finishReasons()).toEqual(["stop"])
  })

  // R-GATE-2
  test("passes on no header of the engine", async () => {
    const { gateway, model } = await openGateway([completion({ content: "fine" })])
    await callModel(gateway, hello, { "x-provider-route": "elsewhere", "user-agent": "engine", cookie: "a=b" })
    const headers = model.calls[0]?.headers ?? {}
    expect(headers["x-provider-route"]).toBeUndefined()
    expect(headers.cookie).toBeUndefined()
    expect(headers["user-agent"]).toBe("galley")
  })

  test("asks for usage on a stream even when the engine does not", async () => {
    const { gateway, model } = await openGateway([
      stream([
        JSON.stringify({ choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] }),
        JSON.stringify({ choices: [], usage }),
        "[DONE]",
      ]),
    ])
    const answer = await callModel(gateway, { ...hello, stream: true, stream_options: { include_usage: false } })
    expect(answer.headers.get("content-type")).toBe("text/event-stream")
    expect(model.calls[0]?.body.stream_options).toEqual({ include_usage: true })
  })

  test("may not ask for a longer answer than the model's", async () => {
    const { gateway, model } = await openGateway([completion({ content: "fine" })])
    await callModel(gateway, { ...hello, max_tokens: 9_999 })
    await callModel(gateway, { ...hello, max_completion_tokens: 9_999 })
    await callModel(gateway, hello)
    expect(model.calls.map(({ body }) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [4_000, undefined],
      [undefined, 4_000],
      [4_000, undefined],
    ])
  })

  // R-GATE-10
  test("carries no secret to the provider, whatever message it stands in", async () => {
    const { gateway, model } = await openGateway([toolCalls(["read", { filePath: "a" }])], {
      knownSecrets: ["github-read-token-1"],
      tools: dynamicTools,
    })
    const planted = `${["ghp", "_", "a1B2".repeat(9)].join("")} github-read-token-1 ${API_KEY} ${TOKEN}`
    await callModel(
      gateway,
      dynamicRequest(
        { role: "system", content: planted },
        { role: "user", content: [{ type: "text", text: planted }] },
        {
          role: "assistant",
          content: planted,
          reasoning_content: planted,
          tool_calls: [{ id: "a", type: "function", function: { name: "grep", arguments: JSON.stringify({ pattern: planted }) } }],
        },
        { role: "tool", tool_call_id: "a", content: planted },
      ),
    )
    const sent = model.calls[0]?.text ?? ""
    expect(sent.match(/\[redacted:github-token\]/g)).toHaveLength(6)
    expect(sent).not.toMatch(/a1B2a1B2|github-read-token-1/)
    expect(sent).not.toContain(TOKEN)
    expect(sent).not.toContain(API_KEY)
  })
})

describe("recorded streams", () => {
  const fixture = (name: string) => [
    ...readFileSync(new URL(`./fixtures/${name}.chunks.txt`, import.meta.url), "utf8").split("\n"),
    "[DONE]",
  ]

  // R-GATE-12
  test.each([
    ["deepseek-text", "length", 13, 400],
    ["deepseek-reasoning", "stop", 18, 219],
    ["deepseek-tool-call", "tool_calls", 339, 83],
    ["xai-text", "stop", 12, 342],
    ["xai-tool-call", "tool_calls", 307, 253],
  ])("%s is counted and comes back whole, cut anywhere", async (name, finish, inputTokens, outputTokens) => {
    const events = fixture(name)
    const tools = { ...dynamicTools, allowed: ["weather"] }
    const { gateway } = await openGateway([stream(events, 97)], { tools, model: { price: { input: 1, output: 10 } } })
    const answer = await callModel(gateway, { ...hello, stream: true })
    expect(gateway.verdict()).toBeNull()
    expect(gateway.finishReasons()).toEqual([finish])
    expect(gateway.usage()).toMatchObject({ modelCalls: 1, inputTokens, outputTokens, costUsd: (inputTokens + 10 * outputTokens) / 1e6 })
    const text = (lines: string[], key: string) =>
      lines
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line).choices[0]?.delta?.[key] ?? "")
        .join("")
    const received = answer.text.split("\n\n").map((event) => event.replace(/^data: /, ""))
    expect(text(received, "content")).toBe(text(events, "content"))
    expect(text(received, "reasoning_content")).toBe(text(events, "reasoning_content"))
    if (finish === "tool_calls") {
      expect(answer.text).toContain('"name":"weather"')
      expect(answer.text).toContain(JSON.stringify(JSON.stringify({ location: "San Francisco" })))
    }
  })
})

describe("what the provider does wrong", () => {
  const text = JSON.stringify({ choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] })

  // F29, F30, F31, R-GATE-6
  test.each<readonly [what: string, code: GatewayVerdict["code"], step: Parameters<typeof openGateway>[0][number]]>([
    ["401", "model_unauthorized", json({ error: { message: `bad key ${API_KEY}` } }, 401)],
    ["403", "model_unauthorized", json({}, 403)],
    ["429", "model_rate_limited", json({}, 429)],
    ["500", "model_upstream_error", json({}, 500)],
    ["402", "model_upstream_error", json({}, 402)],
    ["504", "model_timeout", json({}, 504)],
    ["a refused context", "model_window_exceeded", json({ error: { message: "This model's maximum context length is 8192 tokens" } }, 400)],
    ["a redirect", "model_upstream_redirect", (response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end()],
    ["HTML with 200", "model_stream_invalid", (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")],
    ["no JSON", "model_stream_invalid", (response) => response.writeHead(200, { "content-type": "application/json" }).end("{")],
    ["no choices", "model_stream_invalid", json({ choices: [], usage })],
    ["no finish reason", "model_stream_invalid", stream([text.replace('"stop"', "null"), JSON.stringify({ choices: [], usage })])],
    ["a chunk that does not parse", "model_stream_invalid", stream([text, "{broken"])],
    ["an error chunk", "model_upstream_error", stream([text, JSON.stringify({ error: { message: "overloaded" } })])],
    [
      "a call without a name",
      "model_stream_invalid",
      completion({ tool_calls: [{ id: "a", type: "function", function: { arguments: "{}" } }] }),
    ],
    ["no usage", "model_usage_missing", stream([text, "[DONE]"])],
    ["null usage", "model_usage_missing", completion({ content: "hi" }, "stop", null)],
    ["negative usage", "model_usage_missing", completion({ content: "hi" }, "stop", { prompt_tokens: 5, completion_tokens: -1 })],
    ["usage in words", "model_usage_missing", completion({ content: "hi" }, "stop", { prompt_tokens: "5", completion_tokens: 1 })],
    ["usage of no input", "model_usage_missing", completion({ content: "hi" }, "stop", { prompt_tokens: 0, completion_tokens: 1 })],
    [
      "a reset in mid-stream",
      "model_upstream_error",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(`data: ${text}\n\n`, () => response.destroy())
      },
    ],
    ["an answer that never starts", "model_timeout", () => undefined],
    [
      "a stream that falls silent",
      "model_timeout",
      (response) => response.writeHead(200, { "content-type": "text/event-stream" }).write(": wait\n\n"),
    ],
    [
      "an endless stream",
      "model_response_too_large",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const more = (): void => {
          if (!response.destroyed) response.write(`data: ${text}\n\n`.repeat(100), more)
        }
        more()
      },
    ],
  ])("%s ends the job with %s, in words no engine retries, and without a second call", async (_what, code, step) => {
    const { gateway, model } = await openGateway([step], {
      limits: { modelIdleTimeoutMs: 200, modelCallTimeoutMs: 2_000, maxModelResponseBytes: 100_000 },
    })
    const answer = await callModel(gateway, { ...hello, stream: true })
    expect(gateway.verdict()?.code).toBe(code)
    expect(answer.status).toBe(422)
    expect(answer.text).not.toMatch(retryWords)
    expect(gateway.verdict()?.message).not.toContain(API_KEY)
    expect((await callModel(gateway)).status).toBe(422)
    expect(gateway.verdict()?.code).toBe(code)
    expect(model.calls).toHaveLength(1)
    expect(gateway.usage().modelCalls).toBe(1)
  })

  test("a plain answer has the whole call's time, not the idle time of a stream", async () => {
    const slow: Parameters<typeof openGateway>[0][number] = (response, call) => {
      setTimeout(() => completion({ content: "late" })(response, call), 400)
    }
    const { gateway } = await openGateway([slow], { limits: { modelIdleTimeoutMs: 100, modelCallTimeoutMs: 5_000 } })
    expect((await callModel(gateway)).status).toBe(200)
  })

  // R-GATE-7
  test("no address to reach ends the job with model_upstream_error", async () => {
    const { gateway, model } = await openGateway([completion({})])
    await model.close()
    expect((await callModel(gateway)).status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_upstream_error")
  })

  test.each([
    ["a demanded tool call", { error: { message: "tool_choice 'required' is not supported by this model" } }],
    ["tools at all", { error: { message: "No endpoint found that supports function calling" } }],
    ["a structured result", { error: { message: "response_format is unavailable" } }],
  ])("a provider that refuses %s is named as such only when tools were asked for", async (_what, body) => {
    const dynamic = await openGateway([json(body, 400)], { tools: dynamicTools })
    await callModel(dynamic.gateway, dynamicRequest())
    expect(dynamic.gateway.verdict()?.code).toBe("dynamic_model_features_unsupported")
    const diff = await openGateway([json(body, 400)])
    await callModel(diff.gateway)
    expect(diff.gateway.verdict()?.code).toBe("model_upstream_error")
  })

  test("text instead of the demanded tool call is an unsupported model, a cut answer is a cut answer", async () => {
    const words = await openGateway([completion({ content: "looks good" })], { tools: dynamicTools })
    expect((await callModel(words.gateway, dynamicRequest())).status).toBe(422)
    expect(words.gateway.verdict()?.code).toBe("dynamic_model_features_unsupported")
    const cut = await openGateway([completion({ content: "looks" }, "length")], { tools: dynamicTools })
    await callModel(cut.gateway, dynamicRequest())
    expect(cut.gateway.verdict()?.code).toBe("model_answer_cut")
    expect(cut.gateway.finishReasons()).toEqual(["length"])
  })

  // F29
  test("usage that came before a break is booked", async () => {
    const { gateway } = await openGateway([
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`, () => response.destroy())
      },
    ])
    await callModel(gateway, { ...hello, stream: true })
    expect(gateway.usage()).toMatchObject({ modelCalls: 1, inputTokens: 1_000, outputTokens: 20 })
  })
})

describe("cost", () => {
  const price = { input: 2, output: 8 }

  test("is null without a price, and exact with one", async () => {
    const free = await openGateway([completion({ content: "a" })])
    await callModel(free.gateway)
    expect(free.gateway.usage().costUsd).toBeNull()
    const priced = await openGateway([completion({ content: "a" })], { model: { price } })
    await callModel(priced.gateway)
    expect(priced.gateway.usage().costUsd).toBe((1_000 * 2 + 20 * 8) / 1e6)
  })

  // R-GATE-6
  test("is null, not zero, when a model answered and nobody counted", async () => {
    const { gateway } = await openGateway([completion({ content: "a" }, "stop", null)], { model: { price } })
    await callModel(gateway)
    expect(gateway.usage().costUsd).toBeNull()
  })

  test("is zero when the provider refused to work", async () => {
    const { gateway } = await openGateway([json({}, 401)], { model: { price } })
    await callModel(gateway)
    expect(gateway.usage().costUsd).toBe(0)
  })

  test("and tokens are told to the runner after each call, also a failed one", async () => {
    const told: number[] = []
    const { gateway } = await openGateway([completion({ content: "a" }), json({}, 500)], { onUsage: (now) => told.push(now.modelCalls) })
    await callModel(gateway)
    await callModel(gateway)
    expect(told).toEqual([1, 2])
  })
})
