import type { ChatRequest } from "./chat-request.ts"
import { genericScript } from "./generic-script.ts"
import type { Mode } from "./modes.ts"
import type { Script, Step } from "./step.ts"

export type ScriptPlayer = Readonly<{
  /** What this completion does: the script's next step, filled up by the default script, and how it misbehaves. */
  next(request: ChatRequest): Readonly<{ step: Step; mode: Mode | null }>
  /** Replaces the script and starts it over; null = the default script. */
  setScript(script: Script | null): void
  /** Misbehaves from now on, or in the next `times` completions whose step has no mode of its own; null = behaves. */
  setMode(mode: Mode | null, times?: number): void
}>

/** Keeps the place in the script and the current mode. */
export function playScript(initial: Readonly<{ script: Script | null; mode: Mode | null }>): ScriptPlayer {
  let { script, mode } = initial
  let calls = 0
  let modeLeft = Number.POSITIVE_INFINITY
  const currentMode = () => (mode !== null && modeLeft-- > 0 ? mode : null)
  return {
    next: (request) => {
      const number = calls++
      const own = typeof script === "function" ? script(request, number) : (script?.[number] ?? {})
      const step = own.say === undefined && own.calls === undefined ? { ...genericScript(request), ...own } : own
      return { step, mode: step.mode ?? currentMode() }
    },
    setScript: (next) => {
      script = next
      calls = 0
    },
    setMode: (next, times = Number.POSITIVE_INFINITY) => {
      mode = next
      modeLeft = times
    },
  }
}
