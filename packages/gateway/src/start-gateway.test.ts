import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { describe, expect, test } from "vitest"
import { callModel, hello, openGateway, TOKEN } from "./testing/gateway-for-tests.ts"
import { completion } from "./testing/scripted-model.ts"

const fine = completion({ content: "fine" })

/** Sends bytes as they are and returns the first line of the answer. */
async function raw(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1")
  socket.write(`${head}\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  let answer = ""
  for await (const chunk of socket) answer += chunk
  return answer.split("\r\n", 1)[0] ?? ""
}

describe("the door of the gateway", () => {
  // R-GATE-1
  test.each([
    ["no token", ""],
    ["another token", `Bearer ${TOKEN}x`],
    ["a token of equal length", `Bearer ${"x".repeat(TOKEN.length)}`],
    ["another scheme", `Basic ${TOKEN}`],
    ["two tokens", `Bearer ${TOKEN} ${TOKEN}`],
    ["GitHub's scheme", `token ${TOKEN}`],
  ])("stays shut for %s, which is no verdict on the job", async (_what, authorization) => {
    const { gateway, model } = await openGateway([fine])
    const answer = await callModel(gateway, hello, { authorization })
    expect([401, 404]).toContain(answer.status)
    expect(answer.text).not.toContain(TOKEN)
    expect(model.calls).toHaveLength(0)
    expect(gateway.verdict()).toBeNull()
    expect(gateway.refusals()).toHaveLength(1)
    expect((await callModel(gateway)).status).toBe(200)
  })

  // R-GATE-1
  test.each([
    "GET /v1/models HTTP/1.1",
    "GET /v1/chat/completions HTTP/1.1",
    "POST /v1/chat/completions?x=1 HTTP/1.1",
    "POST /v1/embeddings HTTP/1.1",
    "POST /v1/../v1/chat/completions HTTP/1.1",
    "POST /v1/..%2fchat/completions HTTP/1.1",
    "POST //v1/chat/completions HTTP/1.1",
    "POST http://127.0.0.1:1/v1/chat/completions HTTP/1.1",
    "GET /user HTTP/1.1",
    "OPTIONS * HTTP/1.1",
  ])("opens for one method and path only, not for %s", async (line) => {
    const { gateway, model } = await openGateway([fine])
    expect(await raw(gateway.url, line)).toMatch(/ 404 /)
    expect(gateway.refusals()).toEqual([expect.stringMatching(/ -> 404$/)])
    expect(model.calls).toHaveLength(0)
  })

  test("refuses tunnels and protocol changes", async () => {
    const { gateway, model } = await openGateway([fine])
    expect(await raw(gateway.url, "CONNECT example.com:443 HTTP/1.1")).toMatch(/ 403 /)
    expect(await raw(gateway.url, "GET /v1/chat/completions HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade")).toMatch(/ 40[34] /)
    expect(gateway.refusals()).toHaveLength(2)
    expect(model.calls).toHaveLength(0)
  })

  test("refuses two lengths of one body", async () => {
    const { gateway, model } = await openGateway([fine])
    expect(await raw(gateway.url, "POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked")).toMatch(/ 400 /)
    expect(model.calls).toHaveLength(0)
  })

  // R-GATE-1
  test("listens on the loopback address alone", async () => {
    const { gateway } = await openGateway([fine])
    expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  })

  test("remembers a bounded number of refusals", async () => {
    const { gateway } = await openGateway([fine])
    for (let i = 0; i < 105; i += 1) await callModel(gateway, hello, { authorization: "" })
    expect(gateway.refusals()).toHaveLength(100)
  })
})

describe("the end of a gateway", () => {
  // F32
  test("breaks off a call under way, at the engine and at the provider", async () => {
    let closed = false
    const { gateway, model } = await openGateway([(response) => response.on("close", () => (closed = true))])
    const call = callModel(gateway).catch((error: unknown) => error)
    await expect.poll(() => model.calls.length).toBe(1)
    await gateway.close()
    expect(await call).toBeInstanceOf(Error)
    await expect.poll(() => closed).toBe(true)
    expect(gateway.verdict()).toBeNull()
    await expect(callModel(gateway)).rejects.toThrow()
  })

  test("an engine that hangs up ends its call at the provider, which is counted and no verdict", async () => {
    let closed = false
    const { gateway, model } = await openGateway([(response) => response.on("close", () => (closed = true))])
    const engine = httpRequest(`${gateway.url}/v1/chat/completions`, { method: "POST", headers: { authorization: `Bearer ${TOKEN}` } })
    engine.on("error", () => undefined).end(JSON.stringify(hello))
    await expect.poll(() => model.calls.length).toBe(1)
    engine.destroy()
    await expect.poll(() => closed).toBe(true)
    await expect.poll(() => gateway.usage().modelCalls).toBe(1)
    expect(gateway.verdict()).toBeNull()
  })

  test("a port in use is an error of the start", async () => {
    const { gateway } = await openGateway([fine])
    await expect(openGateway([fine], { port: Number(new URL(gateway.url).port) })).rejects.toThrow()
  })
})
