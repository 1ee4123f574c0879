import { GalleyError } from "@galley/contract/errors"
import { isStorable } from "@galley/contract/storable-text"
import type { Context } from "hono"
import type { z } from "zod"

const refused = (message: string, field: string, options: ErrorOptions = {}) =>
  new GalleyError("request_invalid", message, { ...options, details: field === "" ? {} : { field } })

/** PostgreSQL stores neither NUL nor half a surrogate pair: told here, not found out when the result is stored. */
function storable(field: string, value: unknown): unknown {
  for (const text of [field, value]) {
    if (typeof text === "string" && !isStorable(text)) throw refused("text must be well-formed, without NUL", field)
  }
  return value
}

/**
 * Reads and checks the body of a runner's request.
 *
 * @throws `request_invalid` with the path of the first wrong field, `result_too_large` from the body limit
 */
export async function readMessage<T extends z.ZodType>(c: Context, schema: T): Promise<z.infer<T>> {
  const parsed = schema.safeParse(parseJson(await c.req.text()))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  // An unknown field is named by the issue, not by its path.
  const path = [...(issue?.path ?? []), ...(issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [])]
  throw refused(issue?.message ?? "the body is not valid", path.join("."))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, storable)
  } catch (cause) {
    if (cause instanceof GalleyError) throw cause
    throw refused("the body is not JSON", "", { cause })
  }
}
