import type { Context as HonoContext } from "hono"
import type { z } from "zod"
import { RestError, unprocessable } from "./rest-error.ts"

/** The body of a request; an absent one counts as `{}`. Throws RestError 400 for broken JSON, 422 for another shape. */
export async function readJson<T extends z.ZodType>(c: HonoContext, schema: T): Promise<z.output<T>> {
  const parsed = schema.safeParse(parse((await c.req.text()) || "{}"))
  if (parsed.success) return parsed.data
  throw unprocessable(
    "Invalid request.",
    parsed.error.issues.map((issue) => ({ field: issue.path.join("."), message: issue.message })),
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw Object.assign(new RestError(400, "Problems parsing JSON"), { cause })
  }
}
