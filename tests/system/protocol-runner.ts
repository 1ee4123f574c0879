import { LEASE_TOKEN_HEADER, type Lease, type LeaseRequest, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { poll } from "../../conformance/protocol-client.ts"
import { leaseRequest } from "../integration/review-fixture.ts"

type Server = Readonly<{ url: string }>

/** A runner as its server sees it: requests of the protocol, without an engine. It may ask any server. */
export type ProtocolRunner = Readonly<{
  /** One request for a lease; null for 204. Rejects when the connection breaks, and with the code of a refusal. */
  poll(server: Server, request?: LeaseRequest): Promise<Lease | null>
  /** A verb on a lease. */
  on(server: Server, lease: Lease, verb: string, body?: unknown): Promise<Response>
}>

export function protocolRunner(token: string): ProtocolRunner {
  const never = new AbortController().signal
  return {
    poll: ({ url }, request = leaseRequest({ waitMs: 0 })) => poll({ url, token }, request, never),
    on: ({ url }, lease, verb, body = {}) =>
      fetch(`${url}${RUNNER_PROTOCOL_PATH}/leases/${lease.leaseId}/${verb}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", [LEASE_TOKEN_HEADER]: lease.leaseToken },
      }),
  }
}
