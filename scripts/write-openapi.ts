/** Writes the runner protocol's OpenAPI document to `docs/`; a test compares it with the schemas. */
import { writeFileSync } from "node:fs"
import { runnerOpenApi } from "../packages/contract/src/runner-openapi.ts"

writeFileSync("docs/runner-protocol.openapi.json", `${JSON.stringify(runnerOpenApi(), null, 2)}\n`)
