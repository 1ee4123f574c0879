import type { Coverage } from "@galley/contract/coverage"
import { omissionWords } from "@galley/findings/omission-words"
import { count, plural } from "../words.ts"
import { Badge } from "./parts.tsx"

const comparisons: Readonly<Record<Coverage["comparison"], string>> = {
  none: "first review of this pull request",
  exact: "compared with the last reviewed head",
  unavailable: "the last reviewed head could not be compared, so this is a full review",
}

/** What a run examined, and what it left out. */
export function CoverageSection({ coverage }: { coverage: Coverage }) {
  const { omissions, total } = coverage.omitted
  const changed = omissions.filter((omission) => omission.changed)
  return (
    <section aria-labelledby="coverage">
      <h2 id="coverage">
        Coverage{" "}
        <span class="count">
          <Badge tone={coverage.status === "complete" ? "good" : "warn"}>{coverage.status}</Badge>
        </span>
      </h2>
      <p>
        {count(coverage.reviewedFiles)} of {plural(coverage.changedFiles, "changed file")} reviewed; {comparisons[coverage.comparison]}.
      </p>
      {changed.length === 0 ? null : <OmissionTable label="Changed files left out" omissions={changed} />}
      {total === changed.length ? null : (
        <details>
          <summary>{plural(total - changed.length, "other file")} left out of the export</summary>
          <OmissionTable label="Other files left out" omissions={omissions.filter((omission) => !omission.changed)} />
          {omissions.length < total ? <p class="muted">{plural(total - omissions.length, "more path")} not listed.</p> : null}
        </details>
      )}
    </section>
  )
}

function OmissionTable({ label, omissions }: { label: string; omissions: Coverage["omitted"]["omissions"] }) {
  return (
    <table class="compact">
      <caption>{label}</caption>
      <tbody>
        {omissions.map(({ path, reason }) => (
          <tr>
            <td>
              <code>{path}</code>
            </td>
            <td>{omissionWords[reason]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
