import { defaultJobLimits } from "@galley/contract/limits"
import type { RunTrace } from "@galley/contract/protocol"
import type { Usage } from "@galley/contract/usage"
import { cost, count, duration, plural } from "../words.ts"

/** What a run spent, beside the bounds of a job. */
export function UsageSection({ usage }: { usage: Usage }) {
  const { maxModelCalls, maxModelTokens, maxToolCalls, maxToolFiles } = defaultJobLimits
  const rows = [
    { name: "Model calls", value: usage.modelCalls, limit: maxModelCalls },
    { name: "Tokens", value: usage.inputTokens + usage.outputTokens, limit: maxModelTokens },
    { name: "Tool calls", value: usage.toolCalls, limit: maxToolCalls },
    { name: "Files read", value: usage.toolFiles, limit: maxToolFiles },
  ]
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <div class="bars">
        {rows.map(({ name, value, limit }) => (
          <Bar name={name} share={value / limit} text={`${count(value)} of ${count(limit)}`} />
        ))}
      </div>
      <p>
        {count(usage.inputTokens)} input and {count(usage.outputTokens)} output tokens, cost {cost(usage.costUsd)}.
      </p>
    </section>
  )
}

/** How a run spent its time. */
export function Steps({ trace: { engine, steps, droppedFindings } }: { trace: RunTrace }) {
  const total = Math.max(
    1,
    steps.reduce((sum, { ms }) => sum + ms, 0),
  )
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <div class="bars">
        {steps.map(({ name, ms }) => (
          <Bar name={name} share={ms / total} text={duration(ms)} />
        ))}
      </div>
      <p class="muted">
        {engine.name} {engine.version}
        {droppedFindings.map(({ reason, count: dropped }) => `; ${plural(dropped, "finding")} dropped: ${reason}`)}
      </p>
    </section>
  )
}

/** A horizontal bar with its number in words beside it. */
function Bar({ name, share, text }: { name: string; share: number; text: string }) {
  const width = Math.min(100, Math.max(0, share * 100))
  return (
    <div class="row">
      <span>{name}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="6" />
        <rect class="fill" width={width.toFixed(1)} height="6" />
      </svg>
      <span class="number">{text}</span>
    </div>
  )
}
