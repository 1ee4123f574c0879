import { type BuildResult, build } from "esbuild"
import { readAssetFiles } from "../apps/server/src/pages/assets/read-asset-files.ts"

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
    // Style and scripts of the pages travel inside the server's bundle; bundles that name no asset stay free of them.
    define: { GALLEY_ASSET_FILES: JSON.stringify(readAssetFiles()) },
    loader: { ".sql": "text", ".sh": "text", ".py": "text" },
    sourcemap: outfile === null ? false : "linked",
    metafile: true,
    logLevel: "error",
    banner: { js: REQUIRE_BANNER },
    ...(outfile === null ? { write: false } : { outfile, write: true }),
  })
}
