import type { Query } from "../database.ts"

/** Why nothing may be written to a repository any more. */
export type JobObstacle = "installation_gone" | "installation_suspended" | "repository_gone"

/** Null for a job whose repository is in reach of a live installation. */
export async function findJobObstacle(sql: Query, workspaceId: string, jobId: string): Promise<JobObstacle | null> {
  const [row] = await sql<[{ obstacle: JobObstacle | null }?]>`
    select case when i.removed_at is not null then 'installation_gone'
      when i.suspended_at is not null then 'installation_suspended'
      when p.removed_at is not null then 'repository_gone' end as obstacle
    from review_jobs j join projects p on p.id = j.project_id join installations i on i.id = p.installation_id
    where j.id = ${jobId} and j.workspace_id = ${workspaceId}`
  return row?.obstacle ?? null
}
