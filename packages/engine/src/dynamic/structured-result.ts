import { GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import { type DynamicResult, parseDynamicResult } from "@galley/prompt/result-schema"
import type { MessageAnswer } from "./opencode-client.ts"

const errorMeanings: Readonly<Record<string, GalleyErrorCode>> = {
  StructuredOutputError: "engine_no_output",
  ContextOverflowError: "model_window_exceeded",
  ContentFilterError: "model_answer_cut",
}

/**
 * The validated result of a review message. Pure.
 *
 * @param treePath root of the export, for paths the model copied from a tool
 * Throws the meaning of the engine's error (`engine_failed` when it has none), `engine_no_output` or `engine_output_invalid`.
 */
export function structuredResult(answer: MessageAnswer, treePath: string): DynamicResult {
  const { error, structured } = answer.info
  if (error != null) {
    throw new GalleyError(errorMeanings[error.name] ?? "engine_failed", "the engine ended with an error", {
      details: { error: error.name },
    })
  }
  if (structured == null) throw new GalleyError("engine_no_output", "the engine ended without a result")
  return parseDynamicResult(structured, treePath)
}
