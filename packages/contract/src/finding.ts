import { z } from "zod"
import { ReviewKind } from "./settings.ts"
import { Sha } from "./sha.ts"

export const Priority = z.enum(["P0", "P1", "P2", "P3"])
export type Priority = z.infer<typeof Priority>

/** A path inside a repository as git spells it: relative, `/` as separator, no `.` or `..` part, no NUL. */
export const RepositoryPath = z
  .string()
  .min(1)
  .max(4096)
  .refine(
    (path) =>
      !path.startsWith("/") && !path.includes("\0") && path.split("/").every((part) => part !== "" && part !== "." && part !== ".."),
    "expected a relative path without empty, . or .. parts",
  )

/**
 * One defect as an engine reports it, already in neutral form. `priority` and `confidence` are null when the engine gives none
 * (PR-Agent does not): they are never invented. Lines are 1-based and inclusive, in the file at the reviewed head.
 */
export const EngineFinding = z.strictObject({
  title: z.string().min(1).max(80),
  body: z.string().min(1).max(8_000),
  path: RepositoryPath,
  startLine: z.int().min(1).nullable(),
  endLine: z.int().min(1).nullable(),
  priority: Priority.nullable(),
  confidence: z.number().min(0).max(1).nullable(),
  evidence: z.array(z.string().min(1).max(1_000)).max(10),
  rules: z.array(z.string().min(1).max(200)).max(10),
})
export type EngineFinding = z.infer<typeof EngineFinding>

/**
 * What PR-Agent drops, kept in one namespaced key of each record (`x`), version 1. Only the identity is required: a value that is
 * missing was never known (a record first written by stock PR-Agent), and unknown keys are kept.
 */
export const FindingExtension = z.looseObject({
  v: z.literal(1),
  /** The finding's id on pages, in prompts and in `resolvedIds`; never changes. */
  uid: z.string().min(1).max(64),
  /** `diff` as long as only Diff Review confirmed it, else `dynamic`: the kind that may resolve it. */
  engine: ReviewKind.optional(),
  title: z.string().min(1).optional(),
  priority: Priority.nullable().optional(),
  confidence: z.number().min(0).max(1).nullable().optional(),
  evidence: z.array(z.string()).optional(),
  rules: z.array(z.string()).optional(),
  /** Fingerprints under which PR-Agent may report the same finding again. */
  aliases: z.array(z.string()).optional(),
  first_seen_head_sha: z.string().optional(),
  /** Head at which the lines were given. */
  reviewed_sha: z.string().optional(),
  /** True when an exact comparison showed a change of the path after the finding was last confirmed. */
  changed_since_seen: z.boolean().optional(),
})
export type FindingExtension = z.infer<typeof FindingExtension>

/** One record of the state block, in PR-Agent's own v1 spelling; unknown keys are kept. */
export const FindingRecord = z.looseObject({
  finding_id: z.string().min(1),
  state: z.enum(["ACTIVE", "RESOLVED"]),
  body: z.string().min(1),
  path: z.string().min(1),
  line_start: z.int().optional(),
  line_end: z.int().optional(),
  first_seen: z.string().optional(),
  last_seen: z.string().optional(),
  last_seen_head_sha: z.string().optional(),
  resolved_at: z.string().optional(),
  resolved_head_sha: z.string().optional(),
  resolution_run_id: z.string().optional(),
  reopened_at: z.string().optional(),
  reopened_count: z.int().optional(),
  x: FindingExtension.optional(),
})
export type FindingRecord = z.infer<typeof FindingRecord>

/** The state that lives in the summary comment: PR-Agent's schema version 1. Unknown keys are kept at every level. */
export const FindingState = z.looseObject({
  schema_version: z.literal(1),
  findings: z.array(FindingRecord).max(1_000),
  last_run: z
    .looseObject({
      head_sha: z.string().optional(),
      complete: z.boolean().optional(),
      kind: z.enum(["full", "partial"]).optional(),
      run_id: z.string().optional(),
      excluded_files: z.array(z.string()).optional(),
    })
    .optional(),
})
export type FindingState = z.infer<typeof FindingState>

/** A finding as pages show it. */
export const Finding = z.strictObject({
  id: z.string(),
  state: z.enum(["active", "resolved"]),
  title: z.string(),
  body: z.string(),
  path: z.string(),
  startLine: z.int().nullable(),
  endLine: z.int().nullable(),
  priority: Priority.nullable(),
  confidence: z.number().nullable(),
  evidence: z.array(z.string()),
  rules: z.array(z.string()),
  engine: ReviewKind.nullable(),
  firstSeenSha: Sha.nullable(),
  lastSeenSha: Sha.nullable(),
})
export type Finding = z.infer<typeof Finding>
