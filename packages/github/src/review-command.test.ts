// R-INTAKE-7, B12

import { expect, test } from "vitest"
import { isReviewCommand } from "./review-command.ts"

test.each([
  "/review",
  "/Review",
  "/REVIEW please",
  "  /review  ",
  "\r\n\r\n/review\r\nthanks",
  "/review --config.model=http://127.0.0.1:9/",
  "/review\n/ask something",
])("takes %j as a command", (body) => {
  expect(isReviewCommand(body)).toBe(true)
})

test.each([
  "",
  "   ",
  "/reviewer",
  "/review-all",
  "/ask",
  "/improve",
  "please /review",
  "> /review",
  "```\n/review\n```",
  "    /review",
  "\t/review",
  "text first\n/review",
  "／review",
])("does not take %j as a command", (body) => {
  expect(isReviewCommand(body)).toBe(false)
})
