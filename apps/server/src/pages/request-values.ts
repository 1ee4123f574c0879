import { GalleyError } from "@galley/contract/errors"
import type { Context } from "hono"
import { z } from "zod"

/** Whether the caller asked for JSON rather than a page. */
export const wantsJson = (c: Context): boolean => (c.req.header("accept") ?? "").includes("application/json")

/** Whether the body is JSON rather than a form. */
export const sendsJson = (c: Context): boolean => (c.req.header("content-type") ?? "").startsWith("application/json")

const Id = z.uuid()

/** An id from the address. Throws `not_found` for what cannot be one. */
export function readId(text: string): string {
  const id = Id.safeParse(text)
  if (!id.success) throw new GalleyError("not_found", "there is no such address")
  return id.data
}

/** A pull request number from the address. Throws `not_found` for what cannot be one. */
export function readNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new GalleyError("not_found", "there is no such address")
  return Number(text)
}

/** A JSON body. Throws `request_invalid` with the field. */
export async function readJsonBody<T extends z.ZodType>(c: Context, schema: T): Promise<z.infer<T>> {
  const body: unknown = await c.req.json().catch((cause: unknown) => {
    throw new GalleyError("request_invalid", "the body is not JSON", { cause })
  })
  return parse(schema, body)
}

/** The fields of a submitted form; no form has no fields. Throws `request_invalid` with the field. */
export async function readForm<T extends z.ZodType>(c: Context, schema: T): Promise<z.infer<T>> {
  return parse(schema, await c.req.parseBody().catch(refuseMalformed))
}

/** A submitted form as it is. Throws `request_invalid` for a body that is none. */
export const readFormData = (c: Context): Promise<FormData> => c.req.formData().catch(refuseMalformed)

/** Node tells of a body that is no form by a TypeError; whatever else went wrong is not the sender's fault, or has its own answer. */
function refuseMalformed(cause: unknown): never {
  if (!(cause instanceof TypeError)) throw cause
  throw new GalleyError("request_invalid", "the body is not a form", { cause })
}

function parse<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new GalleyError("request_invalid", issue?.message ?? "the body is not valid", { details: { field: issue?.path.join(".") ?? "" } })
}
