import { GalleyError } from "@galley/contract/errors"
import { LEASE_TOKEN_HEADER } from "@galley/contract/protocol"
import type { LeaseProof } from "@galley/store/queue/lease-token"
import { type AuthenticatedRunner, authenticateRunner } from "@galley/store/runners/authenticate-runner"
import type { Context } from "hono"
import { z } from "zod"
import type { ServerContext } from "../context.ts"

const LeaseId = z.uuid()

/** The runner that a request's bearer token belongs to. @throws `runner_unauthorized` without a hint at what was wrong */
export async function requireRunner(context: ServerContext, c: Context): Promise<AuthenticatedRunner> {
  const token = /^Bearer (\S+)$/.exec(c.req.header("authorization") ?? "")?.[1]
  return authenticateRunner(context.store, token ?? "")
}

/** Runner and lease of a request on a lease. Whether the lease holds is for the verb to find out, in its own transaction. */
export async function requireLeaseProof(context: ServerContext, c: Context, leaseId: string): Promise<LeaseProof> {
  const runner = await requireRunner(context, c)
  const leaseToken = c.req.header(LEASE_TOKEN_HEADER) ?? ""
  if (!LeaseId.safeParse(leaseId).success) throw new GalleyError("lease_lost", "no such lease")
  return { leaseId, leaseToken, runnerId: runner.id }
}
