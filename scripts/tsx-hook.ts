/** Lets Node run the server's `.tsx` pages unbuilt: `node --import ./scripts/tsx-hook.ts`. Bundles do not need it. */
import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { transformSync } from "esbuild"

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(".tsx")) return next(url, context)
    const { code } = transformSync(readFileSync(new URL(url), "utf8"), {
      loader: "tsx",
      jsx: "automatic",
      jsxImportSource: "hono/jsx",
      sourcemap: "inline",
      sourcefile: url,
    })
    return { format: "module", shortCircuit: true, source: code }
  },
})
