import { errorCode, GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import { MAX_RESULT_BYTES } from "@galley/contract/limits"
import { Heartbeat, LeaseFailure, LeaseRequest, LeaseResult, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { type ClaimedLease, findLease } from "@galley/store/queue/claim-jobs"
import { completeJob } from "@galley/store/queue/complete-job"
import { failJob } from "@galley/store/queue/fail-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { releaseJob } from "@galley/store/queue/release-job"
import { touchRunner } from "@galley/store/runners/touch-runner"
import { type Context, Hono } from "hono"
import { bodyLimit } from "hono/body-limit"
import type { z } from "zod"
import type { ServerContext } from "../context.ts"
import { errorAnswer } from "../http/error-answer.ts"
import { requireLeaseProof, requireRunner } from "./authenticate.ts"
import { grantCredentials, grantLease } from "./grant-lease.ts"
import type { LeaseDesk } from "./lease-desk.ts"

const tooLarge = () => {
  throw new GalleyError("result_too_large", `the body is larger than ${MAX_RESULT_BYTES} bytes`)
}

async function readBody<T extends z.ZodType>(c: Context, schema: T): Promise<z.infer<T>> {
  const body: unknown = await c.req.json().catch((cause: unknown) => {
    if (cause instanceof GalleyError) throw cause
    throw new GalleyError("request_invalid", "the body is not JSON", { cause })
  })
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new GalleyError("request_invalid", issue?.message ?? "the body is not valid", { details: { field: issue?.path.join(".") ?? "" } })
}

/** Runner protocol v1; `@galley/contract/protocol` describes it. */
export function runnerRoutes(context: ServerContext, desk: LeaseDesk): Hono {
  const { store, log } = context
  const app = new Hono().basePath(RUNNER_PROTOCOL_PATH)
  app.use(bodyLimit({ maxSize: MAX_RESULT_BYTES, onError: tooLarge }))
  app.onError((error, c) => {
    const { status, body } = errorAnswer(error)
    if (status >= 500) log.error({ err: error, path: c.req.path }, "runner request failed")
    return c.json(body, { status: status as 400 })
  })

  app.post("/leases", async (c) => {
    const runner = await requireRunner(context, c)
    const request = await readBody(c, LeaseRequest)
    await touchRunner(store, runner.id, { name: request.runnerName, version: request.runnerVersion, capabilities: request.capabilities })
    if (runner.paused) throw new GalleyError("runner_paused", "an operator paused this runner")
    const claim = {
      requestId: request.requestId,
      runnerId: runner.id,
      workspaceId: runner.workspaceId,
      kinds: provenKinds(request),
    }
    const claimed = await desk.wait(claim, request.waitMs, c.req.raw.signal)
    if (claimed === null) return c.body(null, 204)
    if (c.req.raw.signal.aborted) {
      await releaseJob(store, claimed)
      return c.body(null, 204)
    }
    try {
      const lease = await grantLease(context, claimed)
      log.info({ jobId: claimed.jobId, leaseId: claimed.leaseId, kind: claimed.kind, attempt: claimed.attempt }, "job leased")
      return c.json(lease)
    } catch (error) {
      await endBeforeStart(context, claimed, error)
      return c.body(null, 204)
    }
  })

  app.post("/leases/:id/credentials", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    const facts = await findLease(store.sql, proof)
    if (facts === null) throw new GalleyError("lease_lost", "the lease ended or was given away")
    return c.json(await grantCredentials(context, facts))
  })

  app.post("/leases/:id/heartbeat", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    return c.json({ action: await heartbeat(store, proof, await readBody(c, Heartbeat)) })
  })

  app.post("/leases/:id/result", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    await completeJob(store, proof, await readBody(c, LeaseResult))
    return c.json({})
  })

  app.post("/leases/:id/failure", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    const { fence: _, ...failure } = await readBody(c, LeaseFailure)
    await failJob(store, proof, failure)
    return c.json({})
  })

  app.post("/leases/:id/release", async (c) => {
    const proof = await requireLeaseProof(context, c, c.req.param("id"))
    await releaseJob(store, proof)
    return c.json({})
  })
  return app
}

/** Kinds whose proof has not run out. */
function provenKinds(request: LeaseRequest) {
  const now = Date.now()
  return request.capabilities.filter((capability) => Date.parse(capability.expiresAt) > now).map((capability) => capability.kind)
}

/** Faults of GitHub pass; a state that cannot be read stays unreadable. */
const passing: ReadonlySet<GalleyErrorCode> = new Set(["github_unavailable", "github_rate_limited", "internal_error"])

async function endBeforeStart(context: ServerContext, claimed: ClaimedLease, error: unknown): Promise<void> {
  const code = errorCode(error)
  context.log.warn({ jobId: claimed.jobId, code, err: error }, "the lease could not be completed")
  await failJob(context.store, claimed, {
    code,
    detail: error instanceof GalleyError ? error.message : "",
    retryable: passing.has(code),
    usage: noUsage,
  })
}
