import type { FindingState } from "@galley/contract/finding"

/**
 * The comment PR-Agent is told to edit, in its own v1 format: heading, marker in line 3, one state block at the end. Keys are sorted at
 * every depth; `<` and `>` are escaped, so that no finding can end the block.
 */
export function renderStateComment(state: FindingState): string {
  const json = JSON.stringify(sortKeys(state)).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e")
  return `## PR Reviewer Guide 🔍\n\n<!-- pr-agent:review:full -->\n\n<!-- pr-agent-review-state:v1\n${json}\n-->\n`
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]))
}
