import { type BuildResult, build, type Plugin } from "esbuild"
import { assetNames, readAssetFiles } from "../apps/server/src/pages/assets/read-asset-files.ts"

/** CommonJS dependencies inside an ES module bundle call `require`. */
const REQUIRE_BANNER = 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'

/** Reads the style and scripts of the pages while bundling, so that the bundle carries them instead of looking for them. */
const assetsInside: Plugin = {
  name: "assets-inside",
  setup({ onLoad }) {
    onLoad({ filter: /\/pages\/assets\/read-asset-files\.ts$/ }, () => ({
      contents: `export const assetNames = ${JSON.stringify(assetNames)}
export const readAssetFiles = () => (${JSON.stringify(readAssetFiles())})`,
      loader: "js",
    }))
  },
}

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
    plugins: [assetsInside],
    loader: { ".sql": "text", ".sh": "text", ".py": "text" },
    sourcemap: outfile === null ? false : "linked",
    metafile: true,
    logLevel: "error",
    banner: { js: REQUIRE_BANNER },
    ...(outfile === null ? { write: false } : { outfile, write: true }),
  })
}
