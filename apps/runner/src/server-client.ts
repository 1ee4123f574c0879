import { setTimeout as delay } from "node:timers/promises"
import { GalleyError, isGalleyErrorCode } from "@galley/contract/errors"
import {
  Credentials,
  ErrorBody,
  type Heartbeat,
  HeartbeatAnswer,
  LEASE_TOKEN_HEADER,
  Lease,
  type LeaseFailure,
  type LeaseRequest,
  type LeaseResult,
  RUNNER_PROTOCOL_PATH,
} from "@galley/contract/protocol"
import { Agent, fetch } from "undici"
import type { z } from "zod"

/**
 * The runner's side of protocol v1. Every method throws the server's code, `server_unreachable` when there was no answer or none of this
 * protocol, or the reason of its signal.
 */
export type ServerClient = Readonly<{
  /** Waits up to `request.waitMs` for a job; null when none came. */
  lease(request: LeaseRequest, signal: AbortSignal): Promise<Lease | null>
  credentials(lease: Lease, signal: AbortSignal): Promise<Credentials>
  heartbeat(lease: Lease, heartbeat: Heartbeat, signal: AbortSignal): Promise<HeartbeatAnswer>
  /** Hands a result over, again and again until the server has it, refuses it, or `signal` aborts. */
  result(lease: Lease, result: LeaseResult, signal: AbortSignal): Promise<void>
  /** As persistent as `result`. */
  failure(lease: Lease, failure: LeaseFailure, signal: AbortSignal): Promise<void>
  /** Gives the job back, as persistently; `last` tells what the attempt has used. */
  release(lease: Lease, last: Heartbeat, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}>

const REQUEST_TIMEOUT_MS = 20_000
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000

export function connectServer(serverUrl: string, token: string): ServerClient {
  const agent = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000, connect: { timeout: 5_000 } })

  const post = async (path: string, body: unknown, lease: Lease | null, timeoutMs: number, signal: AbortSignal): Promise<Answer> => {
    const response = await fetch(`${serverUrl}${RUNNER_PROTOCOL_PATH}${path}`, {
      method: "POST",
      dispatcher: agent,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        // The clock that timed our proofs: the server need not have the same.
        date: new Date().toUTCString(),
        ...(lease === null ? {} : { [LEASE_TOKEN_HEADER]: lease.leaseToken }),
      },
      body: JSON.stringify(body),
    }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new GalleyError("server_unreachable", "the server did not answer", { cause: error })
    })
    if (!response.ok) throw await failureOf(response)
    return response
  }
  const onLease = (lease: Lease, verb: string, body: unknown, signal: AbortSignal) =>
    post(`/leases/${lease.leaseId}/${verb}`, body, lease, REQUEST_TIMEOUT_MS, signal)
  /** For a verb whose status says everything; the body is read so that its connection can be used again. */
  const tell = async (lease: Lease, verb: string, body: unknown, signal: AbortSignal) => {
    await (await onLease(lease, verb, body, signal)).text()
  }

  return {
    async lease(request, signal) {
      const answer = await post("/leases", request, null, request.waitMs + REQUEST_TIMEOUT_MS, signal)
      return answer.status === 204 ? null : await read(answer, Lease)
    },
    credentials: async (lease, signal) => read(await onLease(lease, "credentials", {}, signal), Credentials),
    heartbeat: async (lease, heartbeat, signal) => read(await onLease(lease, "heartbeat", heartbeat, signal), HeartbeatAnswer),
    result: (lease, result, signal) => untilAccepted(() => tell(lease, "result", result, signal), signal),
    failure: (lease, failure, signal) => untilAccepted(() => tell(lease, "failure", failure, signal), signal),
    release: (lease, last, signal) =>
      untilAccepted(async () => {
        await tell(lease, "heartbeat", last, signal)
        await tell(lease, "release", {}, signal)
      }, signal),
    close: () => agent.destroy(),
  }
}

type Answer = Awaited<ReturnType<typeof fetch>>

async function read<T>(answer: Answer, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse(await answer.json().catch(() => undefined))
  if (parsed.success) return parsed.data
  throw new GalleyError("server_unreachable", "the server's answer has another form", { cause: parsed.error })
}

async function failureOf(answer: Answer): Promise<GalleyError> {
  const { status } = answer
  const body = ErrorBody.safeParse(await answer.json().catch(() => undefined))
  if (body.success && isGalleyErrorCode(body.data.error.code)) {
    return new GalleyError(body.data.error.code, body.data.error.message, { details: { status } })
  }
  return new GalleyError("server_unreachable", `the server answered ${status}`, { details: { status } })
}

/** Only a missing answer and the server's own trouble pass by themselves; a refusal is final. */
const isPassing = (error: unknown) =>
  error instanceof GalleyError && ["server_unreachable", "intake_store_unavailable", "internal_error"].includes(error.code)

/** Sends again after faults that may pass. When `signal` aborts between two tries, the last fault is thrown: it says more. */
async function untilAccepted(send: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
    try {
      return await send()
    } catch (error) {
      if (!isPassing(error)) throw error
      await delay(waitMs, undefined, { signal }).catch(() => {
        throw error
      })
    }
  }
}
