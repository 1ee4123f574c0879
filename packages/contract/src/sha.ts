import { z } from "zod"

/** A commit id: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits, so it can never be read as a git option. */
export const Sha = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, "expected 40 or 64 lower-case hex digits")
export type Sha = z.infer<typeof Sha>
