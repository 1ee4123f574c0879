import { Hono } from "hono"
import type { PageEnv } from "../page-env.ts"
import { assets } from "./assets.ts"

/** Style, scripts and icon. Open to everybody, and kept by browsers for a year. */
export function assetRoutes(): Hono<PageEnv> {
  const app = new Hono<PageEnv>()
  for (const { path, contentType, body } of assets.values()) {
    app.get(path, (c) =>
      c.body(body, 200, {
        "Content-Type": contentType,
        "Cache-Control": "public, max-age=31536000, immutable",
        "X-Content-Type-Options": "nosniff",
      }),
    )
  }
  return app
}
