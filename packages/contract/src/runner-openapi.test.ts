import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { runnerOpenApi } from "./runner-openapi.ts"

// R-PROTO-7
test("the published document is the one the schemas give", () => {
  const published = readFileSync(new URL("../../../docs/runner-protocol.openapi.json", import.meta.url), "utf8")
  expect(JSON.parse(published)).toEqual(runnerOpenApi())
})

test("every verb but leasing asks for the lease's token; leasing may tell the runner's clock", () => {
  const paths = runnerOpenApi().paths as Record<string, { post: { parameters: { name: string }[] } }>
  for (const [path, { post }] of Object.entries(paths)) {
    const names = post.parameters.map((parameter) => parameter.name)
    expect(names).toEqual(path === "/leases" ? ["Date"] : ["leaseId", "galley-lease-token"])
  }
})
