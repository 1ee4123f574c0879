import { type BuildResult, build } from "esbuild"

/** CommonJS dependencies inside an ES module bundle call `require`. */
const REQUIRE_BANNER = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'

/** Bundles one entry point into a single file that Node 24 runs without `node_modules`. */
export function bundle(entryPoint: string, outfile: string | null): Promise<BuildResult<{ metafile: true; write: boolean }>> {
  return build({
    entryPoints: [entryPoint],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    jsx: "automatic",
    jsxImportSource: "hono/jsx",
    loader: { ".sql": "text", ".sh": "text", ".py": "text" },
    sourcemap: outfile === null ? false : "linked",
    metafile: true,
    logLevel: "error",
    banner: { js: REQUIRE_BANNER },
    ...(outfile === null ? { write: false } : { outfile, write: true }),
  })
}
