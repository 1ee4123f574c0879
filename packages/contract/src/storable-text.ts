import { z } from "zod"

/** Whether PostgreSQL can store the text: it knows neither NUL nor half a surrogate pair. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** The end of the year 9999, in milliseconds since 1970: a later time has another form in ISO 8601, which PostgreSQL does not read. */
export const LAST_STORABLE_MS = 253_402_300_799_000

/** Text that can be stored as it is. */
export const StorableText = z.string().refine(isStorable, "text must be well-formed, without NUL")
