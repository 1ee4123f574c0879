import { isDeepStrictEqual } from "node:util"
import type { Message } from "./model-request.ts"

/**
 * Derives a value from every message of one conversation after the other. An engine sends its whole conversation with each call: what stood
 * at the same place in the call before is not derived again. Only the latest conversation is remembered, so that the size of a request
 * bounds the memory.
 *
 * @param derive pure; whatever it throws is thrown, and nothing of that conversation is remembered
 */
export function rememberMessages<T>(derive: (message: Message) => T): (messages: readonly Message[]) => T[] {
  let known: readonly Readonly<{ message: Message; derived: T }>[] = []
  return (messages) => {
    known = messages.map((message, at) => {
      const before = known[at]
      return before !== undefined && isDeepStrictEqual(before.message, message) ? before : { message, derived: derive(message) }
    })
    return known.map(({ derived }) => derived)
  }
}
