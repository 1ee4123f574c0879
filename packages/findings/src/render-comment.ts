import { GalleyError } from "@galley/contract/errors"
import { MAX_COMMENT_BYTES, MAX_COMMENT_CHARACTERS } from "@galley/contract/limits"
import type { CommentInput, TextBudget } from "./comment-input.ts"
import { MARKER, stateBlock } from "./comment-state.ts"
import { inlineMarkdown } from "./escape-markdown.ts"
import type { Reconciliation } from "./reconcile.ts"
import { coverageSection } from "./render-coverage.ts"
import { activeSection, resolvedSection } from "./render-findings.ts"
import { linkTarget, repositoryAddress } from "./web-address.ts"

const WHOLE = Number.MAX_SAFE_INTEGER

/** From everything to the least; `says` tells readers what a step leaves out. */
const STEPS: readonly Readonly<{ says: string; budget: TextBudget }>[] = [
  { says: "", budget: { oneLine: false, evidence: true, resolved: 50, bodyBytes: WHOLE, omissions: 50 } },
  { says: "evidence is left out", budget: { oneLine: false, evidence: false, resolved: 50, bodyBytes: WHOLE, omissions: 50 } },
  {
    says: "evidence and most resolved findings are left out",
    budget: { oneLine: false, evidence: false, resolved: 5, bodyBytes: WHOLE, omissions: 50 },
  },
  {
    says: "texts are cut; evidence and resolved findings are left out",
    budget: { oneLine: false, evidence: false, resolved: 0, bodyBytes: 1_200, omissions: 50 },
  },
  {
    says: "texts are cut; evidence, resolved findings and most omissions are left out",
    budget: { oneLine: false, evidence: false, resolved: 0, bodyBytes: 400, omissions: 10 },
  },
  {
    says: "texts are cut; evidence, resolved findings and omissions are left out",
    budget: { oneLine: false, evidence: false, resolved: 0, bodyBytes: 120, omissions: 0 },
  },
  { says: "only titles and places are shown", budget: { oneLine: true, evidence: false, resolved: 0, bodyBytes: 0, omissions: 0 } },
]

/**
 * The whole summary comment in Markdown: heading, PR-Agent's marker in line 3, visible text, state block. At most 65,000 UTF-16 code
 * units and less than 64 KiB. The state and every active finding are always whole; visible text gives way by the steps above and says so.
 *
 * Throws `comment_too_large` when even the shortest text does not fit beside the state.
 */
export function renderComment(input: CommentInput): string {
  const state = stateBlock(input.reconciliation.state)
  for (const { budget, says } of STEPS) {
    const comment = `${visibleText(input, budget, says)}\n\n${state}`
    if (comment.length <= MAX_COMMENT_CHARACTERS && Buffer.byteLength(comment) <= MAX_COMMENT_BYTES) return comment
  }
  throw new GalleyError("comment_too_large", "the summary comment does not fit GitHub's limit", {
    details: { activeFindings: input.reconciliation.active.length, stateBytes: Buffer.byteLength(state) },
  })
}

function visibleText(input: CommentInput, budget: TextBudget, says: string): string {
  const { reconciliation } = input
  const parts = [
    `## Galley: ${input.kind === "diff" ? "Diff Review" : "Dynamic Review"}`,
    MARKER,
    reviewed(input),
    counts(reconciliation),
    notes(input, says),
    activeSection(reconciliation.active, input, budget),
    coverageSection(input.coverage, input.dropped, budget.omissions),
    resolvedSection(reconciliation, budget.resolved),
    footer(input),
  ]
  return parts.filter((part) => part !== "").join("\n\n")
}

function reviewed(input: CommentInput): string {
  const sha = input.reviewedSha
  const commit = `[\`${sha.slice(0, 7)}\`](${repositoryAddress(input.pullRequestUrl)}/commit/${sha})`
  if (input.engine === null) return `Reviewed ${commit} (\`${sha}\`): only names and modes changed, so no model was asked.`
  const engine = inlineMarkdown(`${input.engine.name} ${input.engine.version}`)
  return `Reviewed ${commit} (\`${sha}\`) with ${engine}, model ${inlineMarkdown(input.model)}.`
}

function counts({ active, newCount, reopenedCount, resolvedCount }: Reconciliation): string {
  if (active.length === 0) return `**No active findings**; ${resolvedCount} resolved by this review.`
  const names = active.map((record) => record.x?.priority ?? "unrated")
  const split = ["P0", "P1", "P2", "P3", "unrated"]
    .map((name) => ({ name, count: names.filter((other) => other === name).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} ${name}`)
  const total = `**${active.length} active ${active.length === 1 ? "finding" : "findings"}** (${split.join(", ")})`
  return `${total}: ${newCount} new, ${reopenedCount} reopened; ${resolvedCount} resolved by this review.`
}

function notes(input: CommentInput, says: string): string {
  const lines = [
    ...(input.tampered ? ["The earlier summary had been edited by hand; its findings were restored from the last published state."] : []),
    ...(input.coverage.comparison === "unavailable"
      ? ["The previously reviewed commit is not available, so this is a full review; findings that were not examined again stay active."]
      : []),
    ...(says === "" ? [] : [`Shortened to fit GitHub's limit: ${says}.`]),
  ]
  return lines.map((line) => `> ${line}`).join("\n>\n")
}

function footer(input: CommentInput): string {
  const { modelCalls, inputTokens, outputTokens, costUsd } = input.usage
  const id = inlineMarkdown(input.runId)
  const run = input.runUrl === null ? id : `[${id}](${linkTarget(input.runUrl)})`
  const cost = costUsd === null ? "cost unknown" : `USD ${costUsd.toFixed(4)}`
  return `<sub>Run ${run}: ${modelCalls} model calls, ${inputTokens} input and ${outputTokens} output tokens, ${cost}.</sub>`
}
