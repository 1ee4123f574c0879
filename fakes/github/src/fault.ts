import { z } from "zod"

/** What happens to a matching request instead of, or around, its answer. */
export const FaultEffect = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("status"),
    status: z.int().min(200).max(599),
    message: z.string().default("Injected fault"),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  z.strictObject({ kind: z.literal("delay"), ms: z.int().positive() }),
  /** The connection is cut before anything happens. */
  z.strictObject({ kind: z.literal("destroy") }),
  /** No answer until the client leaves. */
  z.strictObject({ kind: z.literal("hang") }),
  /** The request takes effect, then the connection is cut: the answer is lost. */
  z.strictObject({ kind: z.literal("apply_then_destroy") }),
  /** The hour's calls are spent. */
  z.strictObject({
    kind: z.literal("rate_limit"),
    status: z.union([z.literal(403), z.literal(429)]).default(403),
    resetInSeconds: z.int().positive().default(60),
    retryAfterSeconds: z.int().positive().optional(),
  }),
  /** Too many calls at once: calls remain, but the caller must wait. */
  z.strictObject({
    kind: z.literal("secondary_limit"),
    status: z.union([z.literal(403), z.literal(429)]).default(403),
    retryAfterSeconds: z.int().positive().default(60),
  }),
])
export type FaultEffect = z.infer<typeof FaultEffect>

/** One fault: which requests, how many of them, and what happens. */
export const Fault = z.strictObject({
  /** Left out: any method. */
  method: z.string().optional(),
  /** Path without query and without `/api/v3`; `*` stands for one segment, `**` for any rest. Left out: any path. */
  path: z.string().default("/**"),
  /** Matching requests that pass before the fault starts. */
  skip: z.int().min(0).default(0),
  times: z.int().positive().default(1),
  effect: FaultEffect,
})
export type Fault = z.input<typeof Fault>

/** True when the fault is meant for this request. */
export function faultMatches(fault: z.infer<typeof Fault>, method: string, path: string): boolean {
  return (fault.method ?? method).toUpperCase() === method.toUpperCase() && globPattern(fault.path).test(path)
}

function globPattern(glob: string): RegExp {
  const escaped = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&")
  const source = glob.split(/(\*\*|\*)/).map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : escaped(part)))
  return new RegExp(`^${source.join("")}$`)
}
