// R-BOUND-9

import { expect, test } from "vitest"
import { assertDemoTargets } from "./assert-demo-targets.ts"
import { exampleCredentials, exampleLease } from "./testing/example-lease.ts"

function check(gitUrl: string, baseUrl: string): void {
  const { job } = exampleLease()
  const lease = exampleLease({ job: { ...job, pullRequest: { ...job.pullRequest, gitUrl } } })
  assertDemoTargets(lease, { ...exampleCredentials, model: { ...exampleCredentials.model, baseUrl } })
}

test.each([
  ["http://127.0.0.1:3000/a/b.git", "http://localhost:4000/v1"],
  ["http://[::1]:3000/a/b.git", "http://127.1.2.3/v1"],
])("a runner without a boundary works for %s and %s on this machine", (gitUrl, baseUrl) => {
  expect(() => check(gitUrl, baseUrl)).not.toThrow()
})

test.each([
  ["https://github.example/a/b.git", "http://127.0.0.1:4000/v1"],
  ["http://127.0.0.1:3000/a/b.git", "https://models.example/v1"],
  ["http://127.0.0.1.example/a/b.git", "http://127.0.0.1:4000/v1"],
  ["http://localhost@github.example/a/b.git", "http://127.0.0.1:4000/v1"],
])("a runner without a boundary refuses %s with %s", (gitUrl, baseUrl) => {
  expect(() => check(gitUrl, baseUrl)).toThrow(expect.objectContaining({ code: "boundary_unavailable" }))
})
