import { afterEach, expect, test } from "vitest"
import { type FakeModel, type FakeModelOptions, startFakeModel } from "./fake-model.ts"
import { patience, requiredTool, streamed } from "./talk.fixture.ts"

const running: FakeModel[] = []
const start = async (options: FakeModelOptions = {}) => {
  const fake = await startFakeModel(options)
  running.push(fake)
  return fake
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()))
})

const ask = (fake: FakeModel, body: unknown = {}, headers: Record<string, string> = {}) =>
  fetch(`${fake.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body:
      typeof body === "string" ? body : JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hello" }], ...(body as object) }),
  })

test("answers a plain request with one completion and its usage", async () => {
  const fake = await start({ script: [{ say: "Hi there" }] })
  const response = await ask(fake)
  expect(response.headers.get("content-type")).toBe("application/json")
  expect(await response.json()).toEqual({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi there" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  })
})

test("answers with a tool call", async () => {
  const fake = await start({ script: [{ calls: [{ name: "read", args: { filePath: "/a" } }] }] })
  const { choices } = (await (await ask(fake)).json()) as { choices: unknown[] }
  expect(choices).toEqual([
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1_0", type: "function", function: { name: "read", arguments: '{"filePath":"/a"}' } }],
      },
      finish_reason: "tool_calls",
    },
  ])
})

test("streams text and tool calls in pieces that add up, then the finish reason, the usage and [DONE]", async () => {
  const say = "A longer text, with 日本語 and 🦀, in several pieces."
  const args = { pattern: "x".repeat(100) }
  const fake = await start({
    script: [
      {
        say,
        calls: [
          { name: "grep", args },
          { name: "grep", args: "{}" },
        ],
      },
    ],
  })
  const response = await ask(fake, { stream: true, stream_options: { include_usage: true } })
  expect(response.headers.get("content-type")).toBe("text/event-stream")
  const answer = streamed(await response.text())
  expect(answer.content).toBe(say)
  expect(answer.calls).toEqual([
    { id: "call_1_0", name: "grep", arguments: JSON.stringify(args) },
    { id: "call_1_1", name: "grep", arguments: "{}" },
  ])
  expect(answer.finishReasons).toEqual(["tool_calls"])
  expect(answer.events.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10 } })
  expect(answer.done).toBe(true)
  expect(answer.events.length).toBeGreaterThan(8)
})

test("streams no usage unless it was asked for", async () => {
  const fake = await start()
  expect(await (await ask(fake, { stream: true })).text()).not.toContain("usage")
})

test("gives the same answer to the same request", async () => {
  const [one, two] = [await start(), await start()]
  const body = { stream: true, stream_options: { include_usage: true }, ...requiredTool }
  expect(await (await ask(one, body)).text()).toBe(await (await ask(two, body)).text())
})

test("follows a list of steps, then the default script", async () => {
  const fake = await start({ script: [{ say: "one" }, { mode: { name: "status-500" } }] })
  expect(await (await ask(fake)).text()).toContain('"one"')
  expect((await ask(fake)).status).toBe(500)
  expect(await (await ask(fake)).text()).toContain("This is the scripted model.")
})

test("follows a function of the request and its number, and a replaced script from its start", async () => {
  const fake = await start({ script: (request, number) => ({ say: `${request.model} ${number}` }) })
  expect(await (await ask(fake)).text()).toContain('"m 0"')
  expect(await (await ask(fake, { model: "other" })).text()).toContain('"other 1"')
  fake.setScript([{ say: "new" }])
  expect(await (await ask(fake)).text()).toContain('"new"')
  fake.setScript(null)
  expect(await (await ask(fake)).text()).toContain("This is the scripted model.")
})

test("waits before an answer when the step says so", async () => {
  const fake = await start({ script: [{ say: "late", delayMs: 50 }] })
  const started = performance.now()
  await (await ask(fake)).text()
  expect(performance.now() - started).toBeGreaterThanOrEqual(49)
})

test("accepts only its key, and records the request without it", async () => {
  const fake = await start({ apiKey: "right-key" })
  const refused = await ask(fake, {}, { authorization: "Bearer wrong-key" })
  expect(refused.status).toBe(401)
  expect(await refused.json()).toMatchObject({ error: { code: "invalid_api_key" } })
  expect((await ask(fake)).status).toBe(401)
  expect((await ask(fake, {}, { authorization: "Bearer right-key" })).status).toBe(200)
  expect(fake.requests.map(({ authorized }) => authorized)).toEqual([false, false, true])
  expect(JSON.stringify(fake.requests)).not.toMatch(/right-key|wrong-key/)
})

test("records what was asked", async () => {
  const fake = await start()
  await (await ask(fake, { temperature: 0.2 }, { "x-extra": "yes" })).text()
  expect(fake.requests).toMatchObject([
    {
      method: "POST",
      path: "/v1/chat/completions",
      headers: { "x-extra": "yes" },
      authorized: true,
      body: { model: "m", temperature: 0.2 },
      abandoned: false,
    },
  ])
})

test("keeps the newest two hundred requests only", async () => {
  const fake = await start()
  for (let n = 0; n <= 200; n++) await (await ask(fake, { n })).text()
  expect(fake.requests).toHaveLength(200)
  expect(fake.requests[0]?.body).toMatchObject({ n: 1 })
})

test("notices a client that leaves early", async () => {
  const fake = await start({ mode: { name: "hang" } })
  const leave = new AbortController()
  const asked = fetch(`${fake.url}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "" }] }),
    signal: leave.signal,
  })
  await expect.poll(() => fake.requests.length, patience).toBe(1)
  expect(fake.requests[0]?.abandoned).toBe(false)
  leave.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => fake.requests[0]?.abandoned, patience).toBe(true)
})

test("lists its models", async () => {
  const fake = await start()
  expect(await (await fetch(`${fake.url}/models`)).json()).toMatchObject({ object: "list", data: [{ object: "model" }] })
})

test.each([
  ["not JSON", "{"],
  ["no messages", '{"model":"m"}'],
  ["an empty conversation", '{"model":"m","messages":[]}'],
])("refuses a completion request that is %s", async (_, body) => {
  const fake = await start()
  expect((await ask(fake, body)).status).toBe(400)
})

test("serves nothing else", async () => {
  const fake = await start()
  expect((await fetch(`${fake.url}/embeddings`, { method: "POST", body: "{}" })).status).toBe(404)
  expect((await fetch(`${fake.url}/chat/completions`)).status).toBe(404)
})

test("changes its mode through the admin address, for some completions or until told otherwise", async () => {
  const fake = await start()
  const order = (body: unknown) => fetch(new URL("/_fake/mode", fake.url), { method: "POST", body: JSON.stringify(body) })
  const status = async () => (await ask(fake)).status
  expect((await order({ mode: { name: "status-503" }, times: 2 })).status).toBe(204)
  expect([await status(), await status(), await status()]).toEqual([503, 503, 200])
  await order({ mode: { name: "status-429" } })
  expect([await status(), await status()]).toEqual([429, 429])
  await order({ mode: null })
  expect(await status()).toBe(200)
  expect((await order({ mode: { name: "unheard-of" } })).status).toBe(400)
  expect((await order("{")).status).toBe(400)
})

test("a step's own mode goes before the server's and does not use it up", async () => {
  const fake = await start({ script: [{ mode: { name: "status-500" } }] })
  fake.setMode({ name: "status-503" }, 1)
  expect([(await ask(fake)).status, (await ask(fake)).status, (await ask(fake)).status]).toEqual([500, 503, 200])
})
