import { join } from "node:path"
import type { Omission } from "@galley/contract/coverage"
import { diffReviewInstructions } from "@galley/prompt/compose-prompt"
import type { EngineJob, EngineReport } from "../engine.ts"
import { PR_AGENT_VERSION } from "../engine-manifest.ts"
import { makeSlotDirectory, readEngineFile, writeJobFile } from "../job-files.ts"
import { tokenRoom } from "../token-room.ts"
import { filteredFiles } from "./filtered-files.ts"
import { issueFindings } from "./issue-findings.ts"
import { jobSettings, jobToml } from "./job-settings.ts"
import { judgeRun, type RunJudgement } from "./judge-run.ts"
import { type PrewarmedPrAgent, startPrewarmed } from "./prewarmed.ts"

/** Bytes of PR-Agent's record: it repeats the comment (65,000 characters at most) and the model's answer. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024
/** Part of the window that PR-Agent may fill: it counts with another tokenizer than the model's. */
const TOKENIZER_MARGIN = 0.9

/**
 * Runs stock PR-Agent once against the gateway's model and GitHub shim.
 *
 * @param prewarmed a process waiting in the job's slot, or null to start one now
 * Throws the codes of `jobToml`, `PrewarmedPrAgent.run`, `judgeRun` and `issueFindings`.
 */
export async function runDiff(job: EngineJob, signal: AbortSignal, prewarmed: PrewarmedPrAgent | null): Promise<EngineReport> {
  job.onPhase("starting_engine")
  const recordPath = join(job.scratch, "record.jsonl")
  const settingsPath = join(job.runDirectory, "job.toml")
  const cwd = join(job.runDirectory, "empty")
  await writeJobFile(settingsPath, jobToml(settingsOf(job, recordPath)), 0o640, job)
  await writeJobFile(recordPath, "", 0o660, job)
  await makeSlotDirectory(cwd, 0o550, job)
  const process = prewarmed?.usable() === true ? prewarmed : await startPrewarmed(job.slot, job.boundary, job.prefix)
  const argv = [`--pr_url=${pullRequestUrl(job)}`, `--extra_config_url=${settingsPath}`, "review"]
  const onGiven = () => job.onPhase("reviewing")
  const exit = await process.run({ argv, cwd, maxMemoryBytes: job.limits.maxEngineMemoryBytes, onGiven }, signal)
  const traces = {
    exitCode: exit.code,
    exitSignal: exit.signal,
    recordText: await readEngineFile(recordPath, MAX_RECORD_BYTES),
    modelAnswers: job.gateway.finishReasons().length,
  }
  return diffReport(job, judgeRun(traces, job.checkout.headSha))
}

function settingsOf(job: EngineJob, recordPath: string) {
  const { maxFindings, skill } = job.lease.settings
  const { contextTokens, outputTokens } = tokenRoom(job)
  return jobSettings({
    gatewayUrl: job.gateway.url,
    token: job.token,
    instructions: diffReviewInstructions({ skill, maxFindings }),
    maxFindings,
    contextTokens: Math.ceil(contextTokens * TOKENIZER_MARGIN),
    outputTokens,
    modelCallTimeoutMs: job.limits.modelCallTimeoutMs,
    recordPath,
  })
}

/** PR-Agent takes owner, name and number from it and ignores the host. */
function pullRequestUrl({ lease }: EngineJob): string {
  const { owner, repository, number } = lease.job.pullRequest
  return `https://github.com/${encodeURIComponent(owner)}/${encodeURIComponent(repository)}/pull/${number}`
}

function diffReport(job: EngineJob, run: RunJudgement): EngineReport {
  const overBudget = run.excludedFiles.map((path): Omission => ({ path, reason: "over_token_budget", changed: true }))
  const omissions = [...filteredFiles(job.checkout.changedFiles), ...overBudget]
  const unseen = new Set(omissions.map((omission) => omission.path))
  return {
    ...issueFindings(run.issues, run.state),
    resolvedIds: [],
    confirmedIds: [],
    examinedPaths: job.checkout.changedFiles.filter((file) => file.omitted === null && !unseen.has(file.path)).map((file) => file.path),
    omissions,
    complete: run.complete,
    engine: { name: "pr-agent", version: PR_AGENT_VERSION },
  }
}
