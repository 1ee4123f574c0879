import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

/** Files that pages load, by the name they are served under. */
export const assetNames = ["htmx.js", "icon.svg", "pages.css", "pages.js", "sse.js"] as const
export type AssetName = (typeof assetNames)[number]

/** Reads the files from the checkout and its dependencies. The bundler replaces this module by its result (`scripts/bundle.ts`). */
export function readAssetFiles(): Readonly<Record<AssetName, string>> {
  const { resolve } = createRequire(import.meta.url)
  const dependency = (path: string) => readFileSync(resolve(path), "utf8")
  const own = (name: string) => readFileSync(new URL(`./files/${name}`, import.meta.url), "utf8")
  return {
    "htmx.js": dependency("htmx.org/dist/htmx.min.js"),
    "icon.svg": own("icon.svg"),
    "pages.css": own("pages.css"),
    "pages.js": own("pages.js"),
    "sse.js": dependency("htmx-ext-sse/dist/sse.min.js"),
  }
}
