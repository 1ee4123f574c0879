import type { OmissionReason } from "@galley/contract/coverage"

/** Why a path was left out, in the words of comment and pages. */
export const omissionWords: Readonly<Record<OmissionReason, string>> = {
  binary: "binary file",
  not_utf8: "not UTF-8 text",
  file_too_large: "file too large",
  line_too_long: "line too long",
  symlink: "symbolic link",
  submodule: "submodule",
  special_file: "special file",
  lfs_pointer: "Git LFS pointer",
  credential_like: "looks like a credential file",
  discovery_input: "engine configuration",
  path_unsafe: "unsafe path",
  path_too_long: "path too long",
  no_hunks: "no text changes to show",
  engine_filtered: "filtered by the engine",
  over_token_budget: "over the token budget",
}
