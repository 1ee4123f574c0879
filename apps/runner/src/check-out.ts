import type { Checkout } from "@galley/checkout/checkout"
import { prepareCheckout } from "@galley/checkout/prepare-checkout"
import type { Credentials, Lease } from "@galley/contract/protocol"
import type { JobDirectory } from "@galley/sandbox/job-directory"

/** The checkout of a job, in its directory. Throws the codes of `prepareCheckout`. */
export function checkOut(lease: Lease, credentials: Credentials, directory: JobDirectory, signal: AbortSignal): Promise<Checkout> {
  const { job, limits } = lease
  return prepareCheckout(
    {
      gitUrl: job.pullRequest.gitUrl,
      token: credentials.githubToken,
      pullNumber: job.pullRequest.number,
      headSha: job.headSha,
      baseSha: job.baseSha,
      previousHeadSha: job.previousHeadSha,
      jobDirectory: directory.path,
      limits,
    },
    signal,
  )
}
