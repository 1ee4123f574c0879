import { GalleyError } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { errorAnswer } from "./error-answer.ts"

test("tells what was wrong with a request, and nothing of a fault of the server itself but its code", () => {
  const refused = new GalleyError("request_invalid", "a bound", { details: { field: "waitMs" } })
  expect(errorAnswer(refused)).toEqual({
    status: 422,
    headers: {},
    body: { error: { code: "request_invalid", message: "a bound", field: "waitMs" } },
  })
  for (const [error, code] of [
    [new GalleyError("config_invalid", "the key in /etc does not open"), "config_invalid"],
    [new Error("select secret"), "internal_error"],
  ] as const) {
    expect(errorAnswer(error)).toEqual({ status: 500, headers: {}, body: { error: { code, message: "something went wrong" } } })
  }
})

test.each(["webhook_timeout", "webhook_too_large", "request_too_large", "result_too_large"] as const)(
  "ends the connection after %s: the rest of the body was not read",
  (code) => {
    expect(errorAnswer(new GalleyError(code, "a bound"))).toMatchObject({ headers: { connection: "close" } })
  },
)
