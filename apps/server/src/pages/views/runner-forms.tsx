import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { DEFAULT_OVERLAP_HOURS } from "../../runners/runner-fields.ts"
import { Ago, Exact } from "./parts.tsx"

type SectionProps = { here: string; runner: RunnerSummary }

export function PauseSection({ here, runner }: SectionProps) {
  return (
    <>
      <h2>Pause</h2>
      {runner.paused ? (
        <form method="post" action={`${here}/resume`}>
          <button type="submit" class="primary">
            Resume
          </button>
        </form>
      ) : (
        <form method="post" action={`${here}/pause`} class="settings">
          <div class="field">
            <label for="note">Why</label>
            <input id="note" name="note" maxlength={200} autocomplete="off" aria-describedby="note-hint" />
            <p class="hint" id="note-hint">
              Shown here with your name. It gets no new review; what it works on goes on.
            </p>
          </div>
          <button type="submit">Pause</button>
        </form>
      )}
    </>
  )
}

export function TokenSection({ here, runner, ofEnvironment }: SectionProps & { ofEnvironment: boolean }) {
  const until = runner.oldTokenUntil
  return (
    <>
      <h2>Token</h2>
      {until === null ? null : <OldToken here={here} runner={runner} until={until} />}
      {ofEnvironment ? (
        <p>
          It comes from the server's environment. To rotate it, change <code>GALLEY_RUNNER_TOKEN</code> and start the server again.
        </p>
      ) : null}
      {until !== null || ofEnvironment ? null : <Rotate here={here} />}
    </>
  )
}

function OldToken({ here, runner, until }: SectionProps & { until: Date }) {
  const used = runner.previousTokenUsedAt
  return (
    <form method="post" action={`${here}/revoke`}>
      <p>
        The token was rotated. The old one works until <Exact at={until} />;{" "}
        {used === null ? (
          "nobody has used it since."
        ) : (
          <>
            it was last used <Ago at={used} />.
          </>
        )}
      </p>
      <button type="submit">Revoke the old token</button>
      <p class="hint">Whoever still uses it is refused at once, and loses the reviews it works on to another attempt.</p>
    </form>
  )
}

const overlapChoices = [
  { hours: 1, label: "1 hour" },
  { hours: 24, label: "24 hours" },
  { hours: 168, label: "7 days" },
  { hours: 0, label: "not at all: it leaked" },
]

function Rotate({ here }: { here: string }) {
  return (
    <form method="post" action={`${here}/rotate`} class="settings">
      <div class="field">
        <label for="overlapHours">The old token goes on working for</label>
        <select id="overlapHours" name="overlapHours">
          {overlapChoices.map(({ hours, label }) => (
            <option value={hours} selected={hours === DEFAULT_OVERLAP_HOURS}>
              {label}
            </option>
          ))}
        </select>
        <p class="hint">The new token is shown once, on the next page.</p>
      </div>
      <button type="submit">Rotate the token</button>
    </form>
  )
}

export function RemoveSection({ here, runner }: SectionProps) {
  return (
    <>
      <h2>Remove</h2>
      <details>
        <summary>Remove this runner</summary>
        <form method="post" action={`${here}/remove`} class="settings">
          <p>Its tokens are refused at once. Reviews it works on wait for another runner; its past runs stay.</p>
          <div class="field check">
            <input type="checkbox" id="confirm" name="confirm" value="yes" required />
            <label for="confirm">Remove {runner.name} for good</label>
          </div>
          <button type="submit">Remove</button>
        </form>
      </details>
    </>
  )
}
