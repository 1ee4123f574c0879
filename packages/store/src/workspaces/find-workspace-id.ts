import { GalleyError } from "@galley/contract/errors"
import type { Store } from "../database.ts"

/** Id of the workspace with this slug, for operators: no membership is asked for. Throws `not_found`. */
export async function findWorkspaceId({ sql }: Store, slug: string): Promise<string> {
  const [workspace] = await sql<[{ id: string }?]>`select id from workspaces where slug = ${slug}`
  if (!workspace) throw new GalleyError("not_found", `there is no workspace ${slug}`)
  return workspace.id
}
