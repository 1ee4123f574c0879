import { uuidv7 } from "uuidv7"
import type { Query } from "../database.ts"

/** Adds a workspace, or brings the one with this slug up to date; without `maxRunningJobs` it keeps its own. Returns its id. */
export async function ensureWorkspace(sql: Query, workspace: { slug: string; name: string; maxRunningJobs?: number }): Promise<string> {
  const given = workspace.maxRunningJobs ?? null
  const [{ id }] = await sql<[{ id: string }]>`
    insert into workspaces (id, slug, name, max_running_jobs)
    values (${uuidv7()}, ${workspace.slug}, ${workspace.name}, coalesce(${given}::integer, 4))
    on conflict (slug) do update set
      name = excluded.name, max_running_jobs = coalesce(${given}::integer, workspaces.max_running_jobs)
    returning id`
  return id
}
