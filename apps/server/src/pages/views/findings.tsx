import type { Finding } from "@galley/contract/finding"
import { plural } from "../words.ts"
import { Badge } from "./parts.tsx"

const priorityTones = { P0: "bad", P1: "bad", P2: "warn", P3: "neutral" } as const

/** What a run found. All of it is untrusted text, shown as text. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  const active = findings.filter(({ state }) => state === "active")
  const resolved = findings.filter(({ state }) => state === "resolved")
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">
        Findings <span class="count">{plural(active.length, "active finding")}</span>
      </h2>
      {active.length === 0 ? <p class="empty">No active findings.</p> : <FindingList findings={active} />}
      {resolved.length === 0 ? null : (
        <details>
          <summary>{plural(resolved.length, "resolved finding")}</summary>
          <FindingList findings={resolved} />
        </details>
      )}
    </section>
  )
}

function FindingList({ findings }: { findings: readonly Finding[] }) {
  return (
    <ol class="findings">
      {findings.map((finding) => (
        <li class="card">
          <h3>
            {finding.priority === null ? null : <Badge tone={priorityTones[finding.priority]}>{finding.priority}</Badge>} {finding.title}
          </h3>
          <p class="place">
            <code>{placeOf(finding)}</code>
            {finding.confidence === null ? "" : ` · confidence ${Math.round(finding.confidence * 100)} %`}
          </p>
          <p class="text">{finding.body}</p>
          {finding.evidence.length === 0 ? null : (
            <details>
              <summary>Evidence</summary>
              <ul>
                {finding.evidence.map((one) => (
                  <li class="text">{one}</li>
                ))}
              </ul>
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}

function placeOf({ path, startLine, endLine }: Finding): string {
  if (startLine === null) return path
  return endLine === null || endLine === startLine ? `${path}:${startLine}` : `${path}:${startLine}-${endLine}`
}
