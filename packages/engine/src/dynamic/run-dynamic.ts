import { randomBytes } from "node:crypto"
import { findingView } from "@galley/findings/finding-view"
import { composeDynamicPrompt, type DynamicPrompt } from "@galley/prompt/compose-prompt"
import { dynamicResultJsonSchema } from "@galley/prompt/result-schema"
import type { EngineJob, EngineReport } from "../engine.ts"
import { tokenRoom } from "../token-room.ts"
import { dynamicReport } from "./dynamic-report.ts"
import type { MessageAnswer, OpenCodeClient } from "./opencode-client.ts"
import { connectOpenCode, launchOpenCode } from "./start-opencode.ts"
import { structuredResult } from "./structured-result.ts"

/** The conversation is sent again with every call, so that a prompt may take this share of the job's tokens only. */
const PROMPT_SHARE = 1 / 4
const ABORT_TIMEOUT_MS = 2_000

/**
 * Runs one stock OpenCode server with one session in the export.
 * Throws the codes of `connectOpenCode`, `OpenCodeClient` and `structuredResult`.
 */
export async function runDynamic(job: EngineJob, signal: AbortSignal): Promise<EngineReport> {
  job.onPhase("starting_engine")
  const prompt = composePrompt(job)
  const answer = await converse(job, prompt, signal)
  const result = structuredResult(answer, job.checkout.treePath)
  return dynamicReport(result, { changedFiles: job.checkout.changedFiles, leftOut: prompt.leftOut, readPaths: job.gateway.examinedPaths() })
}

async function converse(job: EngineJob, prompt: DynamicPrompt, signal: AbortSignal): Promise<MessageAnswer> {
  const { engine, password } = await launchOpenCode(job, prompt.system)
  return await engine.supervise(job.limits.maxEngineMemoryBytes, AbortSignal.any([signal, engine.ended]), async (supervised) => {
    const client = await connectOpenCode(engine, password, job.gateway.url, supervised)
    try {
      job.onPhase("reviewing")
      return await review(client, prompt.user, job.lease.settings.maxFindings, supervised)
    } finally {
      await client.close()
    }
  })
}

async function review(client: OpenCodeClient, text: string, maxFindings: number, signal: AbortSignal): Promise<MessageAnswer> {
  const session = await client.createSession("review", signal)
  try {
    return await client.sendMessage(session, { text, resultSchema: dynamicResultJsonSchema(maxFindings) }, signal)
  } catch (error) {
    // best effort, so that a model call ends cleanly; the process is killed in any case
    await client.abortSession(session, AbortSignal.timeout(ABORT_TIMEOUT_MS)).catch(() => undefined)
    throw error
  }
}

function composePrompt(job: EngineJob): DynamicPrompt {
  const { lease, checkout } = job
  const { contextTokens, outputTokens } = tokenRoom(job)
  return composeDynamicPrompt({
    skill: lease.settings.skill,
    pullRequest: lease.job.pullRequest,
    headSha: checkout.headSha,
    baseSha: checkout.baseSha,
    changedFiles: checkout.changedFiles,
    omitted: checkout.omitted,
    priorFindings: (lease.prior.state?.findings ?? []).filter((record) => record.state === "ACTIVE").map(findingView),
    maxFindings: lease.settings.maxFindings,
    tokenBudget: Math.floor(Math.min(contextTokens - outputTokens, job.limits.maxModelTokens * PROMPT_SHARE)),
    nonce: randomBytes(16).toString("hex"),
  })
}
