import { z } from "zod"

/** Whether PostgreSQL can store the text: it knows neither NUL nor half a surrogate pair. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

/** Text that can be stored as it is. */
export const StorableText = z.string().refine(isStorable, "text must be well-formed, without NUL")
