// R-BOUND-10

/** Fails when the runner, bundled as it is shipped, holds server or database code, however it got in. */
import { bundle } from "./bundle.ts"

const forbidden = [
  /packages\/store\//,
  /apps\/server\//,
  /packages\/github\//,
  /\/pg-boss\//,
  /\/drizzle-orm\//,
  /\/postgres\//,
  /\/node_modules\/pg\//,
]

const { metafile } = await bundle("apps/runner/src/main.ts", null)
const found = Object.keys(metafile.inputs).filter((file) => forbidden.some((pattern) => pattern.test(file)))
for (const file of found) console.error(`the runner bundle holds ${file}`)
process.exit(found.length === 0 ? 0 : 1)
