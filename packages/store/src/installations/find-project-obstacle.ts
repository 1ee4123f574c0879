import type { Query } from "../database.ts"

/** Why nothing may be done in a project's repository any more. */
export type ProjectObstacle = "installation_gone" | "installation_suspended" | "repository_gone"

/** Null for a project in reach of a live installation. */
export async function findProjectObstacle(sql: Query, workspaceId: string, projectId: string): Promise<ProjectObstacle | null> {
  const [row] = await sql<[{ obstacle: ProjectObstacle | null }?]>`
    select case when i.removed_at is not null then 'installation_gone'
      when i.suspended_at is not null then 'installation_suspended'
      when p.removed_at is not null then 'repository_gone' end as obstacle
    from projects p join installations i on i.id = p.installation_id
    where p.id = ${projectId} and p.workspace_id = ${workspaceId}`
  return row === undefined ? "repository_gone" : row.obstacle
}
