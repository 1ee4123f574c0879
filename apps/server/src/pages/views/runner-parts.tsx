import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { isRunnerTooOld, MIN_RUNNER_VERSION } from "../../runner-api/check-runner-version.ts"
import { type RunnerStanding, runnerStanding } from "../runner-standing.ts"
import { Ago, Badge, type Tone } from "./parts.tsx"

const standings: Readonly<Record<RunnerStanding, { tone: Tone; word: string }>> = {
  paused: { tone: "warn", word: "Paused" },
  never_seen: { tone: "neutral", word: "Never seen" },
  not_seen: { tone: "bad", word: "Not seen" },
  too_old: { tone: "bad", word: "Too old" },
  unproven: { tone: "bad", word: "Proves nothing" },
  working: { tone: "info", word: "Working" },
  ready: { tone: "good", word: "Ready" },
}

export function RunnerBadge({ runner, now = new Date() }: { runner: RunnerSummary; now?: Date }) {
  const { tone, word } = standings[runnerStanding(runner, now)]
  return <Badge tone={tone}>{word}</Badge>
}

export function RunnerVersion({ version }: Pick<RunnerSummary, "version">) {
  if (version === null) return <span class="muted">unknown</span>
  return (
    <>
      {version}
      {isRunnerTooOld(version) ? <strong class="warning">too old, needs {MIN_RUNNER_VERSION}</strong> : null}
    </>
  )
}

export const LastSeen = ({ lastSeenAt }: Pick<RunnerSummary, "lastSeenAt">) =>
  lastSeenAt === null ? <span class="muted">never</span> : <Ago at={lastSeenAt} />
