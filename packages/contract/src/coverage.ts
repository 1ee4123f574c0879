import { z } from "zod"

/** Why a path was not examined or not exported. */
export const OmissionReason = z.enum([
  "binary",
  "not_utf8",
  "file_too_large",
  "line_too_long",
  "symlink",
  "submodule",
  "special_file",
  "lfs_pointer",
  "credential_like",
  "discovery_input",
  "path_unsafe",
  "path_too_long",
  "no_hunks",
  "engine_filtered",
  "over_token_budget",
])
export type OmissionReason = z.infer<typeof OmissionReason>

/** `changed` is true when the path belongs to the change under review, false when it is only part of the tree. */
export const Omission = z.strictObject({ path: z.string(), reason: OmissionReason, changed: z.boolean() })
export type Omission = z.infer<typeof Omission>

/** A bounded list: `total` counts all omissions, so `omissions.length < total` says that the list was cut. */
export const OmissionList = z.strictObject({ omissions: z.array(Omission), total: z.int().min(0) })
export type OmissionList = z.infer<typeof OmissionList>

/**
 * What a run examined. `partial` whenever a changed path was left out or the engine says so.
 * `examinedPaths` are paths whose content (or diff text) reached the model. `comparison` says against what earlier head the run could
 * compare: `none` (first review), `exact` (both trees were there), `unavailable` (declared full review).
 */
export const Coverage = z.strictObject({
  status: z.enum(["complete", "partial"]),
  changedFiles: z.int().min(0),
  reviewedFiles: z.int().min(0),
  examinedPaths: z.array(z.string()),
  omitted: OmissionList,
  comparison: z.enum(["none", "exact", "unavailable"]),
})
export type Coverage = z.infer<typeof Coverage>
