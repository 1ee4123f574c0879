import fc from "fast-check"
import { expect, test } from "vitest"
import type { Message } from "./model-request.ts"
import { prepareMessage } from "./prepare-message.ts"
import { rememberMessages } from "./remember-messages.ts"
import { dynamicTools, finishedCall, readResult } from "./testing/gateway-for-tests.ts"

const SECRET = "github-read-token-1"
const user = (content: string): Message => ({ role: "user", content })

/** `prepareMessage` as the gateway of a job has it, with results cut early. */
function preparation() {
  const options = { tools: dynamicTools, limits: { maxToolResultBytes: 100 } }
  return rememberMessages((message) => prepareMessage(message, [SECRET], options))
}

test("derives only from what is new in a conversation that grows", () => {
  const seen: string[] = []
  const derive = rememberMessages((message) => seen.push(message.content ?? ""))
  derive([user("a"), user("b")])
  derive([user("a"), user("b"), user("c")])
  expect(seen).toEqual(["a", "b", "c"])
})

test("derives anew from the place on where a conversation became another", () => {
  const derive = rememberMessages((message) => message.content)
  derive([user("a"), user("b"), user("c")])
  expect(derive([user("a"), user("c"), user("c")])).toEqual(["a", "c", "c"])
  expect(derive([user("a")])).toEqual(["a"])
})

test("remembers the latest conversation alone", () => {
  const seen: string[] = []
  const derive = rememberMessages((message) => seen.push(message.content ?? ""))
  derive([user("a"), user("b")])
  derive([user("a")])
  derive([user("a"), user("b")])
  expect(seen).toEqual(["a", "b", "b"])
})

test("takes a message in another role or with another call for another message", () => {
  const derive = rememberMessages((message) => JSON.stringify(message))
  const conversations: Message[][] = [
    [user("a")],
    [{ role: "system", content: "a" }],
    [{ role: "assistant", content: "a" }],
    [{ role: "assistant", content: "a", tool_calls: [{ id: "1", type: "function", function: { name: "read", arguments: "{}" } }] }],
    [{ role: "assistant", content: "a", tool_calls: [{ id: "1", type: "function", function: { name: "grep", arguments: "{}" } }] }],
    [{ role: "tool", tool_call_id: "1", content: "a" }],
    [{ role: "tool", tool_call_id: "2", content: "a" }],
  ]
  for (const messages of conversations) expect(derive(messages)).toEqual(messages.map((message) => JSON.stringify(message)))
})

test("remembers nothing of a conversation that was refused", () => {
  const prepare = preparation()
  const outside: Message = { role: "tool", tool_call_id: "1", content: readResult("/etc/passwd", "root") }
  for (let call = 0; call < 2; call++) {
    expect(() => prepare([user("a"), outside])).toThrow(expect.objectContaining({ code: "tool_not_allowed" }))
  }
})

const text = fc.array(fc.constantFrom(SECRET, "password: ", '"hunter2"', "\n", "é", "\ud800", "plain ", "x".repeat(60)), { maxLength: 6 })
const message: fc.Arbitrary<Message[]> = fc.oneof(
  text.map((parts): Message[] => [user(parts.join(""))]),
  fc.tuple(fc.constantFrom("read", "StructuredOutput"), text, text).map(([name, args, result]) => {
    return finishedCall(name, { filePath: args.join("") }, readResult("/jobs/tree/a.ts", result.join(""))) as Message[]
  }),
)
/** What becomes of a conversation before its next call: it loses its end from a place on, and goes on in another way. */
const edits = fc.array(fc.tuple(fc.nat({ max: 30 }), fc.array(message, { maxLength: 4 })), { minLength: 1, maxLength: 8 })

// R-GATE-10
test("prepares every conversation as if it were the first, whatever came before it", () => {
  fc.assert(
    fc.property(edits, (calls) => {
      const warm = preparation()
      let conversation: Message[] = []
      for (const [kept, added] of calls) {
        // The engine sends it as JSON: equal, never the same objects.
        conversation = structuredClone([...conversation.slice(0, kept), ...added.flat()])
        expect(warm(conversation)).toEqual(preparation()(conversation))
      }
    }),
  )
})
