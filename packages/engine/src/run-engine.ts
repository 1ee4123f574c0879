import { errorCode, GalleyError } from "@galley/contract/errors"
import type { PrewarmedPrAgent } from "./diff/prewarmed.ts"
import { runDiff } from "./diff/run-diff.ts"
import { runDynamic } from "./dynamic/run-dynamic.ts"
import type { EngineJob, EngineReport } from "./engine.ts"
import { gatewayFailure } from "./gateway-failure.ts"

/**
 * Runs the engine of the job's kind, once; never another one. When it returns or throws, no process of the engine is left.
 *
 * @param signal ends the run; its reason is thrown when it is a `GalleyError`, else `engine_timeout`
 * @param prewarmed a PR-Agent waiting in the job's slot, used up or ended by this call
 * Throws what the gateway saw go wrong first, else the engine's own failure (`engine_…`, `model_answer_cut`, `github_shim_refused`).
 */
export async function runEngine(job: EngineJob, signal: AbortSignal, prewarmed: PrewarmedPrAgent | null = null): Promise<EngineReport> {
  const { kind } = job.lease.job
  try {
    signal.throwIfAborted()
    const report = await runKind(job, signal, prewarmed)
    const failure = gatewayFailure(kind, job.gateway)
    if (failure !== null) throw failure
    return report
  } catch (error) {
    throw explain(error, signal, gatewayFailure(kind, job.gateway))
  } finally {
    await prewarmed?.close()
  }
}

async function runKind(job: EngineJob, signal: AbortSignal, prewarmed: PrewarmedPrAgent | null): Promise<EngineReport> {
  if (job.lease.job.kind === "diff") return await runDiff(job, signal, prewarmed)
  // a slot's user never holds a process of another job
  await prewarmed?.close()
  return await runDynamic(job, signal)
}

function explain(error: unknown, signal: AbortSignal, failure: GalleyError | null): unknown {
  if (signal.aborted) {
    return signal.reason instanceof GalleyError
      ? signal.reason
      : new GalleyError("engine_timeout", "the engine's time is over", { cause: error })
  }
  if (failure === null || errorCode(error) === "engine_memory_exceeded") return error
  return new GalleyError(failure.code, failure.message, { cause: error })
}
