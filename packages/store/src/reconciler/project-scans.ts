import { ProjectSettings } from "@galley/contract/settings"
import type { Store } from "../database.ts"

/** An active project of a live installation whose open pull requests are to be compared with its jobs. */
export interface ProjectScan {
  projectId: string
  workspaceId: string
  owner: string
  name: string
  webUrl: string
  githubInstallationId: number
  githubRepositoryId: number
  /** Page to read next, from 1. */
  page: number
}

/**
 * Projects whose pass is under way or whose last one ended `restMs` milliseconds ago, the one that waited longest first.
 *
 * @param resting GitHub's ids of installations to leave out
 */
export async function listDueProjects(
  { sql }: Store,
  hostId: string,
  due: { restMs: number; resting: readonly number[]; limit: number },
): Promise<ProjectScan[]> {
  const rows = await sql<(ProjectScan & { settings: unknown })[]>`
    select p.id as "projectId", p.workspace_id as "workspaceId", p.owner, p.name, p.web_url as "webUrl", p.settings,
      i.github_installation_id as "githubInstallationId", p.github_repository_id as "githubRepositoryId", coalesce(s.page, 1) as page
    from projects p
    join installations i on i.id = p.installation_id and i.removed_at is null and i.suspended_at is null
    left join project_scans s on s.project_id = p.id
    where p.host_id = ${hostId} and p.removed_at is null and p.settings -> 'active' = 'true'
      and (s.ended_at is null or s.ended_at < clock_timestamp() - ${due.restMs} * interval '1 millisecond' or s.page > 1)
      and not (i.github_installation_id = any(${[...due.resting]}::bigint[]))
    order by s.ended_at nulls first, p.id
    limit ${due.limit}`
  return rows.filter(({ settings }) => ProjectSettings.parse(settings).active).map(({ settings: _, ...scan }) => scan)
}

/** Keeps how far the comparison came. @param nextPage null when all pages were compared, or the project cannot be read */
export async function recordProjectScan({ sql }: Store, projectId: string, nextPage: number | null): Promise<void> {
  await sql`
    insert into project_scans as s (project_id, page, ended_at)
    values (${projectId}, ${nextPage ?? 1}, ${nextPage === null ? sql`clock_timestamp()` : null})
    on conflict (project_id) do update set page = excluded.page, ended_at = coalesce(excluded.ended_at, s.ended_at)`
}
