import { GalleyError } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { errorAnswer } from "./error-answer.ts"

test("tells what was wrong with a request, and nothing of a fault of the server itself but its code", () => {
  const refused = new GalleyError("request_invalid", "a bound", { details: { field: "waitMs" } })
  expect(errorAnswer(refused)).toEqual({ status: 422, body: { error: { code: "request_invalid", message: "a bound", field: "waitMs" } } })
  for (const [error, code] of [
    [new GalleyError("config_invalid", "the key in /etc does not open"), "config_invalid"],
    [new Error("select secret"), "internal_error"],
  ] as const) {
    expect(errorAnswer(error)).toEqual({ status: 500, body: { error: { code, message: "something went wrong" } } })
  }
})
