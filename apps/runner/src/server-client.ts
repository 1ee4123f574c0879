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

/** The runner's side of protocol v1. Every method throws the server's code, or `server_unreachable` when there was no answer. */
export type ServerClient = Readonly<{
  /** Waits up to `request.waitMs` for a job; null when none came. */
  lease(request: LeaseRequest, signal: AbortSignal): Promise<Lease | null>
  credentials(lease: Lease, signal: AbortSignal): Promise<Credentials>
  heartbeat(lease: Lease, heartbeat: Heartbeat, signal: AbortSignal): Promise<HeartbeatAnswer>
  /** Hands a result over, again and again until the server has it or `signal` ends the lease. */
  result(lease: Lease, result: LeaseResult, signal: AbortSignal): Promise<void>
  failure(lease: Lease, failure: LeaseFailure, signal: AbortSignal): Promise<void>
  release(lease: Lease, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}>

const REQUEST_TIMEOUT_MS = 20_000
const FIRST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000

async function failureOf(response: Awaited<ReturnType<typeof fetch>>): Promise<GalleyError> {
  const body = ErrorBody.safeParse(await response.json().catch(() => undefined))
  const code = body.success ? body.data.error.code : ""
  if (isGalleyErrorCode(code)) return new GalleyError(code, body.data?.error.message ?? code, { details: { status: response.status } })
  return new GalleyError("server_unreachable", `the server answered ${response.status}`, { details: { status: response.status } })
}

/** Only a missing answer and the server's own trouble pass by themselves; a refusal is final. */
const isPassing = (error: unknown) =>
  error instanceof GalleyError && ["server_unreachable", "intake_store_unavailable", "internal_error"].includes(error.code)

export function connectServer(serverUrl: string, token: string): ServerClient {
  const agent = new Agent({ headersTimeout: 60_000, bodyTimeout: 60_000, connect: { timeout: 5_000 } })

  const post = async (path: string, body: unknown, lease: Lease | null, timeoutMs: number, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(`${serverUrl}${RUNNER_PROTOCOL_PATH}${path}`, {
      method: "POST",
      dispatcher: agent,
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        ...(lease === null ? {} : { [LEASE_TOKEN_HEADER]: lease.leaseToken }),
      },
      body: JSON.stringify(body),
    }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new GalleyError("server_unreachable", "the server did not answer", { cause: error })
    })
    if (!response.ok) throw await failureOf(response)
    if (response.status === 204) return null
    return response.json()
  }
  const onLease = (lease: Lease, verb: string, body: unknown, signal: AbortSignal) =>
    post(`/leases/${lease.leaseId}/${verb}`, body, lease, REQUEST_TIMEOUT_MS, signal)

  const untilAccepted = async (send: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
      try {
        await send()
        return
      } catch (error) {
        if (!isPassing(error)) throw error
        await delay(waitMs, undefined, { signal })
      }
    }
  }

  return {
    async lease(request, signal) {
      const answer = await post("/leases", request, null, request.waitMs + REQUEST_TIMEOUT_MS, signal)
      return answer === null ? null : Lease.parse(answer)
    },
    credentials: async (lease, signal) => Credentials.parse(await onLease(lease, "credentials", {}, signal)),
    heartbeat: async (lease, heartbeat, signal) => HeartbeatAnswer.parse(await onLease(lease, "heartbeat", heartbeat, signal)),
    result: (lease, result, signal) => untilAccepted(() => onLease(lease, "result", result, signal), signal),
    failure: (lease, failure, signal) => untilAccepted(() => onLease(lease, "failure", failure, signal), signal),
    async release(lease, signal) {
      await onLease(lease, "release", {}, signal)
    },
    close: () => agent.destroy(),
  }
}
