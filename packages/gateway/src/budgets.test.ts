import { noUsage } from "@galley/contract/usage"
import { describe, expect, test } from "vitest"
import { callModel, hello, openGateway } from "./testing/gateway-for-tests.ts"
import { completion } from "./testing/scripted-model.ts"

const fine = completion({ content: "fine" })

describe("the budget of a job", () => {
  // R-GATE-3
  test("ends after the last call, before the model", async () => {
    const { gateway, model } = await openGateway([fine], { limits: { maxModelCalls: 2 } })
    const statuses = [await callModel(gateway), await callModel(gateway), await callModel(gateway)].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 422])
    expect(gateway.verdict()?.code).toBe("model_call_limit")
    expect(model.calls).toHaveLength(2)
    expect(gateway.usage().modelCalls).toBe(2)
  })

  // R-QUEUE-12
  test("goes on from earlier attempts, whose usage is not reported again", async () => {
    const { gateway, model } = await openGateway([fine], {
      limits: { maxModelCalls: 30 },
      usageSoFar: { ...noUsage, modelCalls: 29, inputTokens: 5_000 },
    })
    expect((await callModel(gateway)).status).toBe(200)
    expect(gateway.usage()).toMatchObject({ modelCalls: 1, inputTokens: 1_000 })
    expect((await callModel(gateway)).status).toBe(422)
    expect(model.calls).toHaveLength(1)
  })

  test("counts reported tokens, and shortens the last answers to what is left", async () => {
    const { gateway, model } = await openGateway([completion({ content: "a" }, "stop", { prompt_tokens: 5_000, completion_tokens: 900 })], {
      limits: { maxModelTokens: 14_000 },
    })
    for (let call = 0; call < 3; call += 1) await callModel(gateway)
    expect(model.calls.map(({ body }) => body.max_tokens)).toEqual([4_000, 4_000, expect.any(Number)])
    expect(Number(model.calls[2]?.body.max_tokens)).toBeLessThanOrEqual(14_000 - 2 * 5_900)
    expect((await callModel(gateway)).status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_token_limit")
    expect(model.calls).toHaveLength(3)
  })

  test("holds what calls under way may still take", async () => {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { gateway, model } = await openGateway(
      [
        (response, call) => {
          void held.then(() => fine(response, call))
        },
      ],
      { limits: { maxModelTokens: 6_000 } },
    )
    const first = callModel(gateway)
    await expect.poll(() => model.calls.length).toBe(1)
    const second = callModel(gateway)
    await expect.poll(() => model.calls.length).toBe(2)
    expect((await callModel(gateway)).status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_token_limit")
    release()
    await Promise.all([first, second])
    expect(Number(model.calls[1]?.body.max_tokens)).toBeLessThan(2_000)
  })

  test("allows a few calls at a time", async () => {
    const { gateway, model } = await openGateway([() => undefined])
    const calls = Array.from({ length: 5 }, () => callModel(gateway).catch(() => null))
    expect((await Promise.any(calls))?.status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_request_invalid")
    expect(model.calls.length).toBeLessThanOrEqual(4)
    await gateway.close()
    await Promise.all(calls)
  })

  // R-GATE-3
  test("refuses a request that does not fit the context window", async () => {
    const { gateway, model } = await openGateway([fine], { model: { contextTokens: 1_000 } })
    await callModel(gateway, { ...hello, messages: [{ role: "user", content: "word ".repeat(1_000) }] })
    expect(gateway.verdict()?.code).toBe("model_window_exceeded")
    expect(model.calls).toHaveLength(0)
  })

  test("refuses a request body over its bound, and tells the engine so instead of breaking the connection", async () => {
    const { gateway, model } = await openGateway([fine], { limits: { maxModelRequestBytes: 10_000 } })
    const answer = await callModel(gateway, { ...hello, messages: [{ role: "user", content: "x".repeat(3_000_000) }] })
    expect(answer.status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_request_too_large")
    expect(model.calls).toHaveLength(0)
  })
})

describe("a request that tries to steer the provider", () => {
  // R-KIND-4, R-GATE-2
  test.each([
    ["another model", { model: "vendor/other" }],
    ["no model", { model: undefined }],
    ["a base url", { base_url: "http://127.0.0.1:1" }],
    ["a key", { api_key: "x" }],
    ["a route", { provider: { only: ["x"] } }],
    ["fallback models", { models: ["a", "b"] }],
    ["several answers", { n: 2 }],
    ["a stored conversation", { store: true }],
  ])("with %s is refused before the model", async (_what, extra) => {
    const { gateway, model } = await openGateway([fine])
    expect((await callModel(gateway, { ...hello, ...extra })).status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_override_refused")
    expect(model.calls).toHaveLength(0)
  })

  test.each([
    ["no JSON", "{"],
    ["no messages", { ...hello, messages: [] }],
    ["an unknown role", { ...hello, messages: [{ role: "root", content: "x" }] }],
    ["an image", { ...hello, messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://x" } }] }] }],
    ["an endless answer", { ...hello, max_tokens: -1 }],
  ])("with %s is refused as invalid", async (_what, body) => {
    const { gateway, model } = await openGateway([fine])
    expect((await callModel(gateway, body)).status).toBe(422)
    expect(gateway.verdict()?.code).toBe("model_request_invalid")
    expect(model.calls).toHaveLength(0)
  })

  test("through unknown keys of a message loses them", async () => {
    const { gateway, model } = await openGateway([fine])
    await callModel(gateway, {
      ...hello,
      messages: [{ role: "user", content: "hi", cache_control: { type: "ephemeral" }, provider_options: {} }],
    })
    expect(model.calls[0]?.body.messages).toEqual([{ role: "user", content: "hi" }])
  })
})
