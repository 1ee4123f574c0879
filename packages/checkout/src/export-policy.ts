import { isUtf8 } from "node:buffer"
import type { Omission } from "@galley/contract/coverage"
import type { JobLimits } from "@galley/contract/limits"
import { isCredentialLike } from "./credential-names.ts"

type Reason = Omission["reason"]

/** What a blob's bytes say. `lines` counts like git: a last line without a line feed is a line. */
export type ContentVerdict = Readonly<{ reason: Reason | null; lines: number }>

/** Names an engine would load code, configuration or instructions from, or let hide files from its search. */
const DISCOVERY_INPUTS = new Set([
  ".opencode",
  ".claude",
  ".agents",
  "opencode.json",
  "opencode.jsonc",
  "tui.json",
  "tui.jsonc",
  ".ignore",
  ".rgignore",
])

/** Longest name of a file or folder on the usual file systems, in bytes. */
const MAX_NAME_BYTES = 255
const LINE_FEED = 10
/** Code points that some file systems drop from names, so that `.g<U+200C>it` would become `.git`. */
const IGNORED_BY_FILE_SYSTEMS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
/** `.git`, its short name on NTFS, and both with a stream suffix. */
const GIT_FOLDER = /^(?:\.git|git~\d+)[. ]*(?::|$)/
const LFS_POINTER = Buffer.from("version https://git-lfs.github.com/spec/")

/**
 * Why the entry at `path` is left out whatever its content, or null. Pure.
 *
 * The order matters: `discovery_input` comes last because it is the only reason that leaves the text in the diff.
 *
 * @param mode octal text of git, `100644`
 * @param path decoded path; bytes that were not UTF-8 stand in it with a backslash
 */
export function judgePath(mode: string, path: string, limits: JobLimits): Reason | null {
  const parts = path.split("/")
  const names = parts.map(comparableName)
  if (isUnsafe(path, parts, names)) return "path_unsafe"
  if (isTooLong(path, parts, limits)) return "path_too_long"
  if (mode === "120000") return "symlink"
  if (mode === "160000") return "submodule"
  if (!mode.startsWith("100")) return "special_file"
  if (isCredentialLike(names)) return "credential_like"
  return names.some((name) => DISCOVERY_INPUTS.has(name)) ? "discovery_input" : null
}

/**
 * Whether a blob is text that may be shown. Pure.
 *
 * A NUL anywhere makes it binary, not only in the first 8,000 bytes as for git.
 *
 * @param content null when the fetch left the blob out, which it does for every blob over the size limit
 */
export function judgeContent(content: Buffer | null, limits: JobLimits): ContentVerdict {
  if (content === null || content.length > limits.maxFileBytes) return { reason: "file_too_large", lines: 0 }
  if (content.includes(0)) return { reason: "binary", lines: 0 }
  if (!isUtf8(content)) return { reason: "not_utf8", lines: 0 }
  if (content.subarray(0, LFS_POINTER.length).equals(LFS_POINTER)) return { reason: "lfs_pointer", lines: 0 }
  const { lines, longest } = measureLines(content)
  return { reason: longest > limits.maxLineBytes ? "line_too_long" : null, lines }
}

/**
 * A name as the most forgiving file system would compare it: without case, width, invisible characters and trailing dots
 * or spaces. Only for comparing, never for writing.
 */
function comparableName(name: string): string {
  return name
    .replace(IGNORED_BY_FILE_SYSTEMS, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[. ]+$/, "")
}

function isUnsafe(path: string, parts: readonly string[], names: readonly string[]): boolean {
  if (path.includes("\\") || /^[a-z]:/i.test(path)) return true
  if (parts.some((part) => part === "" || part === "." || part === "..")) return true
  return names.some((name) => GIT_FOLDER.test(name))
}

function isTooLong(path: string, parts: readonly string[], limits: JobLimits): boolean {
  if (parts.length > limits.maxPathDepth || Buffer.byteLength(path) > limits.maxPathBytes) return true
  return parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)
}

function measureLines(content: Buffer): Readonly<{ lines: number; longest: number }> {
  let lines = 0
  let longest = 0
  let start = 0
  while (start < content.length) {
    const feed = content.indexOf(LINE_FEED, start)
    const end = feed < 0 ? content.length : feed
    longest = Math.max(longest, end - start)
    start = end + 1
    lines++
  }
  return { lines, longest }
}
