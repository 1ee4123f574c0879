import { z } from "zod"
import { MAX_SKILL_BYTES } from "./limits.ts"
import { isStorable } from "./storable-text.ts"

export const ReviewKind = z.enum(["diff", "dynamic"])
export type ReviewKind = z.infer<typeof ReviewKind>

/** The logical model of a Dynamic Review when a project names none. A workspace maps it to an upstream id. */
export const DEFAULT_DYNAMIC_MODEL = "deepseek-v4.1-flash"

/** Text of a review skill: at most 16 KiB of well-formed UTF-8, not blank, no NUL. */
export const ReviewSkill = z
  .string()
  .refine(isStorable, "the skill must be well-formed text without NUL")
  .refine((text) => text.trim() !== "", "the skill must not be blank; reset it to use the default")
  .refine((text) => new TextEncoder().encode(text).length <= MAX_SKILL_BYTES, `the skill is larger than ${MAX_SKILL_BYTES} bytes`)

/** Name of a logical model: 1 to 200 visible ASCII characters. */
export const ModelName = z.string().regex(/^[\x21-\x7e]{1,200}$/, "expected 1 to 200 visible characters without spaces")

/**
 * `projects.settings`. Missing values get their default when parsed; unknown keys are kept, so that a newer
 * version's settings survive an older server. `reviewSkill` missing means the shipped skill.
 */
export const ProjectSettings = z.looseObject({
  active: z.boolean().default(false),
  reviewKind: ReviewKind.default("diff"),
  dynamicModel: ModelName.default(DEFAULT_DYNAMIC_MODEL),
  reviewSkill: ReviewSkill.optional(),
  maxFindings: z.int().min(1).max(30).default(10),
  reviewDrafts: z.boolean().default(false),
  reviewBotPullRequests: z.boolean().default(false),
  debounceSeconds: z.int().min(0).max(300).default(30),
})
export type ProjectSettings = z.infer<typeof ProjectSettings>
