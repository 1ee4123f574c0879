import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = new URL("..", import.meta.url).pathname
const read = (file: string) => readFileSync(join(root, file), "utf8")

test.each(["apps/server/src/config.ts", "apps/runner/src/config.ts"])("every variable of %s is explained to operators", (schema) => {
  const variables = [...read(schema).matchAll(/^ +([A-Z][A-Z_]+): /gm)].map(([, name = ""]) => name)
  expect(variables).toContain("GALLEY_RUNNER_TOKEN")
  for (const document of [".env.example", "docs/operating.md"]) {
    const text = read(document)
    expect(
      variables.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
      document,
    ).toEqual([])
  }
})
