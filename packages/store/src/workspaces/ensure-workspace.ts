import { uuidv7 } from "uuidv7"
import type { Query } from "../database.ts"

/** Adds a workspace, or finds the one with this slug. Returns its id. */
export async function ensureWorkspace(sql: Query, workspace: { slug: string; name: string; maxRunningJobs?: number }): Promise<string> {
  const [{ id }] = await sql<[{ id: string }]>`
    insert into workspaces (id, slug, name, max_running_jobs)
    values (${uuidv7()}, ${workspace.slug}, ${workspace.name}, ${workspace.maxRunningJobs ?? 4})
    on conflict (slug) do update set slug = excluded.slug returning id`
  return id
}
