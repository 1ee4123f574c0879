import { isLoopback } from "@galley/contract/configuration"
import { GalleyError } from "@galley/contract/errors"
import type { Credentials, Lease } from "@galley/contract/protocol"

/**
 * Without the boundary an engine could reach anything this machine reaches, so such a runner works only for a GitHub and a model on this
 * machine itself.
 *
 * @throws `boundary_unavailable` for any other address
 */
export function assertDemoTargets(lease: Lease, credentials: Credentials): void {
  const targets = { GitHub: lease.job.pullRequest.gitUrl, model: credentials.model.baseUrl }
  for (const [name, address] of Object.entries(targets)) {
    if (!isLoopback(address)) {
      throw new GalleyError("boundary_unavailable", `the ${name} is not on this machine, and this runner has no boundary (demo mode)`)
    }
  }
}
