import { GalleyError } from "@galley/contract/errors"

/** Deepest nesting of a state; real ones have five levels. */
const MAX_DEPTH = 32

/**
 * JSON on one line with keys sorted at every depth, so that equal values have equal text. Keys without a value are left out.
 * Throws `finding_state_invalid` when nested deeper than 32 levels.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new GalleyError("finding_state_invalid", "the finding state is nested too deeply")
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(",")}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member, depth + 1)}`).join(",")}}`
}
