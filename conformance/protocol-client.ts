import { GalleyError, isGalleyErrorCode } from "@galley/contract/errors"
import * as protocol from "@galley/contract/protocol"
import type { z } from "zod"

/** Address of a server, without a slash at the end, and the token of a runner. */
export type Server = Readonly<{ url: string; token: string }>
type Lease = protocol.Lease
type LeaseKey = Pick<Lease, "leaseId" | "leaseToken">

// Runner protocol v1, one function per verb. Each sends one request and throws the server's code when it was refused, `server_unreachable`
// when there was no answer or none of this protocol, and the reason of its signal.

/** Waits up to `request.waitMs` for a job; null when none came. Proofs count by this machine's clock, right or wrong. */
export async function poll(server: Server, request: protocol.LeaseRequest, signal: AbortSignal): Promise<Lease | null> {
  const answer = await post(server, "/leases", request, { date: new Date().toUTCString() }, request.waitMs, signal)
  return answer === null ? null : read(protocol.Lease, answer)
}

/** What the job may use. Keep it in memory only, and give none of it to an engine. */
export async function credentials(server: Server, lease: Lease, signal: AbortSignal): Promise<protocol.Credentials> {
  return read(protocol.Credentials, await onLease(server, lease, "credentials", {}, signal))
}

/** Renews the lease for `leaseMs` from now and says whether to go on. */
export async function heartbeat(
  server: Server,
  lease: Lease,
  beat: protocol.Heartbeat,
  signal: AbortSignal,
): Promise<protocol.HeartbeatAnswer> {
  return read(protocol.HeartbeatAnswer, await onLease(server, lease, "heartbeat", beat, signal))
}

/** Hands the result over. The very same body may be sent again. */
export async function result(server: Server, lease: Lease, body: protocol.LeaseResult, signal: AbortSignal): Promise<void> {
  await onLease(server, lease, "result", body, signal)
}

/** Ends the attempt without a result. */
export async function failure(server: Server, lease: Lease, body: protocol.LeaseFailure, signal: AbortSignal): Promise<void> {
  await onLease(server, lease, "failure", body, signal)
}

/** Gives the job back; no attempt is counted. */
export async function release(server: Server, lease: LeaseKey, signal: AbortSignal): Promise<void> {
  await onLease(server, lease, "release", {}, signal)
}

/** True for a missing answer and the server's own trouble, after which the same request is sent again; a refusal is final. */
export function mayPass(error: unknown): boolean {
  return error instanceof GalleyError && ["server_unreachable", "internal_error", "intake_store_unavailable"].includes(error.code)
}

function onLease(server: Server, lease: LeaseKey, verb: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  return post(server, `/leases/${lease.leaseId}/${verb}`, body, { [protocol.LEASE_TOKEN_HEADER]: lease.leaseToken }, 0, signal)
}

const ANSWER_TIMEOUT_MS = 20_000

/** @returns the answer's JSON, null for 204 */
async function post(
  server: Server,
  path: string,
  body: unknown,
  headers: Record<string, string>,
  waitMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const answer = await fetch(server.url + protocol.RUNNER_PROTOCOL_PATH + path, {
      method: "POST",
      redirect: "error",
      headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(waitMs + ANSWER_TIMEOUT_MS)]),
    })
    if (answer.status === 204) return null
    const json: unknown = await answer.json()
    if (answer.ok) return json
    const { code, message } = read(protocol.ErrorBody, json).error
    throw new GalleyError(isGalleyErrorCode(code) ? code : "request_invalid", message)
  } catch (cause) {
    signal.throwIfAborted()
    throw cause instanceof GalleyError ? cause : new GalleyError("server_unreachable", "there was no answer", { cause })
  }
}

function read<T>(schema: z.ZodType<T>, answer: unknown): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw new GalleyError("server_unreachable", "the answer has another form", { cause: parsed.error })
}
