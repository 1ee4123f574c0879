import { isDeepStrictEqual } from "node:util"
import { ErrorBody } from "@galley/contract/protocol"

/** What a server answered; the body is parsed JSON, or null when there was none. */
export type Answer = Readonly<{ status: number; body: unknown }>

/** A rule of the protocol that does not hold; the message says what was expected. */
export class Unmet extends Error {
  override readonly name = "Unmet"
}

export function must(holds: boolean, expectation: string): asserts holds {
  if (!holds) throw new Unmet(expectation)
}

export function mustEqual(actual: unknown, expected: unknown, what: string): void {
  must(isDeepStrictEqual(actual, expected), `${what}: expected ${brief(expected)}, got ${brief(actual)}`)
}

/** The answer is a success without anything to say beyond its form, which every answer's judge has checked. */
export function mustBeDone(answer: Answer, what: string): void {
  must(answer.status === 200, `${what}: expected 200, got ${told(answer)}`)
}

/** @param field dotted path of the value that was wrong; left out: not looked at */
export function mustBeRefused(answer: Answer, status: number, code: string, what: string, field?: string): void {
  const error = ErrorBody.safeParse(answer.body).data?.error
  const holds = answer.status === status && error?.code === code && (field === undefined || error.field === field)
  must(holds, `${what}: expected ${status} ${code}${field === undefined ? "" : ` with field ${field}`}, got ${told(answer)}`)
}

const told = (answer: Answer) => `${answer.status} ${brief(answer.body)}`

const MAX_CHARACTERS = 300
const brief = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, MAX_CHARACTERS)
