import { setTimeout as wait } from "node:timers/promises"
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response"
import type { MiddlewareHandler } from "hono"
import type { z } from "zod"
import type { Context, Env } from "./context.ts"
import { Fault, type FaultEffect, faultMatches } from "./fault.ts"
import { callerOf, rateHeaders } from "./rate-limit.ts"
import { errorBody, RestError } from "./rest-error.ts"

/** The faults that wait for their requests. */
export type FaultInjector = Readonly<{
  add(fault: Fault): void
  clear(): void
  list(): readonly z.infer<typeof Fault>[]
  /** The effect for this request, used up by asking. */
  take(method: string, path: string): FaultEffect | null
}>

export function createFaultInjector(): FaultInjector {
  let faults: z.infer<typeof Fault>[] = []
  return {
    add: (fault) => void faults.push(Fault.parse(fault)),
    clear() {
      faults = []
    },
    list: () => faults.map((fault) => ({ ...fault })),
    take(method, path) {
      const fault = faults.find((candidate) => faultMatches(candidate, method, path))
      if (!fault) return null
      if (fault.skip > 0) {
        fault.skip -= 1
        return null
      }
      fault.times -= 1
      faults = faults.filter((candidate) => candidate.times > 0)
      return fault.effect
    },
  }
}

/** Lets the next matching request meet its fault. */
export function injectFaults(context: Context): MiddlewareHandler<Env> {
  return async (c, next) => {
    const effect = context.faults.take(c.req.method, c.req.path.replace(/^\/api\/v3/, ""))
    c.set("fault", effect?.kind ?? null)
    if (!effect) return await next()
    const cut = () => {
      c.env.incoming.socket.destroy()
      return RESPONSE_ALREADY_SENT
    }
    switch (effect.kind) {
      case "status": {
        const body = errorBody(new RestError(effect.status, effect.message))
        return Response.json(body, { status: effect.status, headers: effect.headers })
      }
      case "delay":
        await wait(effect.ms, undefined, { signal: context.signal })
        return await next()
      case "destroy":
        return cut()
      case "hang":
        await new Promise((resolve) => AbortSignal.any([context.signal, c.req.raw.signal]).addEventListener("abort", resolve))
        return cut()
      case "apply_then_destroy":
        await next()
        c.res = cut()
        return
      case "rate_limit":
      case "secondary_limit":
        return limited(context, c.get("credential"), effect)
    }
  }
}

type LimitEffect = Extract<FaultEffect, { kind: "rate_limit" | "secondary_limit" }>

function limited(context: Context, credential: Env["Variables"]["credential"], effect: LimitEffect): Response {
  const rate = context.rateLimits.read(credential)
  const spent = effect.kind === "rate_limit"
  const headers = {
    ...rateHeaders(
      spent ? { ...rate, used: rate.limit, remaining: 0, resetAtSeconds: Math.ceil(context.now() / 1000) + effect.resetInSeconds } : rate,
    ),
    ...(effect.retryAfterSeconds !== undefined && { "retry-after": String(effect.retryAfterSeconds) }),
  }
  const message = spent
    ? `API rate limit exceeded for ${callerOf(credential)}.`
    : "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
  return Response.json(errorBody(new RestError(effect.status, message)), { status: effect.status, headers })
}
