import { GalleyError } from "@galley/contract/errors"
import { EngineFinding, Priority } from "@galley/contract/finding"
import { z } from "zod"

const PriorId = z.string().min(1).max(64)
const Evidence = z.string().min(1).max(1_000)

const MAX_TITLE_CHARACTERS = 80
/** As many records as a stored state may hold. */
const MAX_PRIOR_IDS = 1_000
const MAX_EXAMINED_PATHS = 1_000

/** More is no review. A few too many are dropped with the other findings that do not hold. */
const MAX_REPORTED_FINDINGS = 200

/**
 * A finding as a Dynamic Review must report it: an `EngineFinding` that leaves nothing open. Whether its place exists is for
 * `validateFindings` to say, finding by finding: a single wrong place, which a hostile text can provoke, must not cost the whole review.
 */
const DynamicFinding = EngineFinding.extend({
  path: z.string().min(1).max(4_096),
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  priority: Priority,
  confidence: z.number().min(0).max(1),
})

const dynamicResult = (maxFindings: number) =>
  z.strictObject({
    version: z.literal(1),
    findings: z.array(DynamicFinding).max(maxFindings),
    resolved: z.array(z.strictObject({ id: PriorId, evidence: Evidence })).max(MAX_PRIOR_IDS),
    confirmed: z.array(PriorId).max(MAX_PRIOR_IDS),
    /** A claim: what really reached the model is known to the gateway. */
    examinedPaths: z.array(z.string().min(1).max(4_096)).max(MAX_EXAMINED_PATHS),
  })

/** What the engine's result tool must carry, version 1. Line ranges are 1-based and inclusive, at the reviewed head. */
export const DynamicResult = dynamicResult(30)
export type DynamicResult = z.infer<typeof DynamicResult>

/**
 * The same bounds as JSON schema for the engine's result tool. Plain on purpose, as many providers accept nothing else: everything
 * inline and required, no additional properties, no unions.
 */
export function dynamicResultJsonSchema(maxFindings: number): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(dynamicResult(maxFindings), {
    override: ({ jsonSchema }) => {
      // zod's bound of every integer says nothing to a model and costs tokens on every call.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return schema
}

/**
 * Checks a model's result strictly; the engine passes arguments on unchecked (wrong types and extra keys come through).
 * Two repairs, both of slips models cannot avoid: a title over 80 characters is shortened with "…", and a path below the export root,
 * which the tools print in absolute form, becomes relative.
 *
 * @param treePath absolute path of the export root
 * Throws `engine_output_invalid`; the message names places in the result, never its text.
 */
export function parseDynamicResult(value: unknown, treePath?: string): DynamicResult {
  const parsed = dynamicResult(MAX_REPORTED_FINDINGS).safeParse(repair(value, treePath))
  if (!parsed.success) {
    const places = parsed.error.issues.slice(0, 5).map((issue) => `${place(issue.path)}: ${issue.code}`)
    throw new GalleyError("engine_output_invalid", `the review result breaks its schema at ${places.join(", ")}`)
  }
  return parsed.data
}

const place = (path: readonly PropertyKey[]) => path.map(String).join(".") || "its root"

function repair(value: unknown, treePath: string | undefined): unknown {
  if (!isRecord(value)) return value
  const relative = (path: unknown) =>
    treePath !== undefined && typeof path === "string" && path.startsWith(`${treePath}/`) ? path.slice(treePath.length + 1) : path
  const finding = (entry: unknown) =>
    isRecord(entry) ? { ...entry, ...mapKey(entry, "title", shortTitle), ...mapKey(entry, "path", relative) } : entry
  const list = (change: (entry: unknown) => unknown) => (entries: unknown) => (Array.isArray(entries) ? entries.map(change) : entries)
  return { ...value, ...mapKey(value, "findings", list(finding)), ...mapKey(value, "examinedPaths", list(relative)) }
}

/** Changes a key that is there; a missing one stays missing, so that the schema names it. */
const mapKey = (record: Record<string, unknown>, key: string, change: (entry: unknown) => unknown) =>
  key in record ? { [key]: change(record[key]) } : {}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value)

function shortTitle(title: unknown): unknown {
  if (typeof title !== "string" || title.length <= MAX_TITLE_CHARACTERS) return title
  const kept = title.slice(0, MAX_TITLE_CHARACTERS - 1)
  return `${kept.isWellFormed() || !title.isWellFormed() ? kept : kept.slice(0, -1)}…`
}
