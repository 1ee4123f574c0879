import { LEASE_TOKEN_HEADER, Lease, type LeaseRequest, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { leaseRequest } from "../integration/review-fixture.ts"

type Server = Readonly<{ url: string }>

/** A runner as its server sees it: requests of the protocol, without an engine. It may ask any server. */
export type ProtocolRunner = Readonly<{
  /** One request for a lease; null for 204. Rejects when the connection breaks, and with the status of a refusal. */
  poll(server: Server, request?: LeaseRequest): Promise<Lease | null>
  /** A verb on a lease. */
  on(server: Server, lease: Lease, verb: string, body?: unknown): Promise<Response>
}>

export function protocolRunner(token: string): ProtocolRunner {
  const post = ({ url }: Server, path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}${RUNNER_PROTOCOL_PATH}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    })
  return {
    async poll(server, request = leaseRequest({ waitMs: 0 })) {
      const answer = await post(server, "/leases", request)
      if (answer.status === 204) return null
      if (answer.status !== 200) throw new Error(`refused with ${answer.status}`)
      return Lease.parse(await answer.json())
    },
    on: (server, lease, verb, body = {}) =>
      post(server, `/leases/${lease.leaseId}/${verb}`, body, { [LEASE_TOKEN_HEADER]: lease.leaseToken }),
  }
}
