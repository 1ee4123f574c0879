import { integerFromText } from "@galley/contract/configuration"
import { TOKEN_OVERLAP_MS } from "@galley/store/runners/runner-token"
import { z } from "zod"

/** What an operator calls a runner: one line. */
export const RunnerName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{C}*$/u)

/** Why a runner is paused: one line, may be empty. */
export const PauseNote = z
  .string()
  .trim()
  .max(200)
  .regex(/^\P{C}*$/u)

/** For how long an old token goes on working, from text; 0 = not at all. */
export const OverlapHours = integerFromText(0, 168)
export const HOUR_MS = 3_600_000
export const DEFAULT_OVERLAP_HOURS = TOKEN_OVERLAP_MS / HOUR_MS
