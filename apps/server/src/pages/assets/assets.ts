import { createHash } from "node:crypto"
import { type AssetName, assetNames, readAssetFiles } from "./read-asset-files.ts"

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
}

export type Asset = Readonly<{ path: string; contentType: string; body: string }>

const files = readAssetFiles()

/** Every asset under an address that changes with its content, so that browsers may keep it for good. */
export const assets: ReadonlyMap<AssetName, Asset> = new Map(
  assetNames.map((name) => {
    const body = files[name]
    const digest = createHash("sha256").update(body).digest("hex").slice(0, 12)
    const extension = name.slice(name.lastIndexOf(".") + 1)
    return [name, { path: `/assets/${digest}/${name}`, contentType: types[extension] ?? "application/octet-stream", body }]
  }),
)

/** Address of an asset. */
export const assetPath = (name: AssetName): string => assets.get(name)?.path ?? ""
