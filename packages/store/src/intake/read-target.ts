import { ProjectSettings } from "@galley/contract/settings"
import type { Query } from "../database.ts"
import type { Delivery } from "./with-intake.ts"

export interface IntakeInstallation {
  id: string
  workspaceId: string
  suspended: boolean
  removed: boolean
}

export interface IntakeProject {
  id: string
  workspaceId: string
  /** Installation that owns it. */
  installationId: string
  settings: ProjectSettings
  removed: boolean
}

export interface KnownPullRequest {
  id: string
  headSha: string
  baseSha: string
  lastReviewedSha: string | null
}

/**
 * What the database knows about where a delivery belongs. A project counts only for an event of the installation that owns it, or of none, so
 * that tenants are never mixed, also not on the pages that show deliveries.
 */
export interface IntakeTarget {
  installation: IntakeInstallation | null
  project: IntakeProject | null
  pullRequest: KnownPullRequest | null
  /** Stands for the state of installation and project: another text as soon as one of them was written. */
  version: string
}

interface TargetRow {
  installation: IntakeInstallation | null
  project: (Omit<IntakeProject, "settings"> & { settings: unknown }) | null
  pullRequest: KnownPullRequest | null
  version: string
}

/** Reads the targets of deliveries, in their order, in one statement. Nothing is locked. */
export async function readTargets(sql: Query, deliveries: readonly Delivery[]): Promise<IntakeTarget[]> {
  const asked = deliveries.map(({ hostId, githubInstallationId, githubRepositoryId, pullRequestNumber }) => ({
    host: hostId,
    installation: githubInstallationId,
    repository: githubRepositoryId,
    number: pullRequestNumber,
  }))
  // xmin is the transaction that wrote a row last: locks leave it alone.
  const rows = await sql<TargetRow[]>`
    select
      case when i.id is not null then jsonb_build_object('id', i.id, 'workspaceId', i.workspace_id,
        'suspended', i.suspended_at is not null, 'removed', i.removed_at is not null) end as installation,
      case when p.id is not null then jsonb_build_object('id', p.id, 'workspaceId', p.workspace_id,
        'installationId', p.installation_id, 'settings', p.settings, 'removed', p.removed_at is not null) end as project,
      case when q.id is not null then jsonb_build_object('id', q.id, 'headSha', q.head_sha, 'baseSha', q.base_sha,
        'lastReviewedSha', q.last_reviewed_sha) end as "pullRequest",
      concat(i.xmin, ' ', p.xmin) as version
    from rows from (jsonb_to_recordset(${sql.json(asked)}) as (host uuid, installation bigint, repository bigint, number integer))
      with ordinality d (host, installation, repository, number, place)
    -- One row by its index for each, whatever the statistics of a young database make the planner believe.
    left join lateral (select *, xmin from installations where host_id = d.host and github_installation_id = d.installation limit 1) i on true
    left join lateral (
      select *, xmin from projects where host_id = d.host and github_repository_id = d.repository
        and (d.installation is null or installation_id = i.id) limit 1) p on true
    left join lateral (select * from pull_requests where project_id = p.id and number = d.number limit 1) q on true
    order by d.place`
  return rows.map((row) => ({ ...row, project: row.project && { ...row.project, settings: ProjectSettings.parse(row.project.settings) } }))
}

/** Reads the target of one delivery. */
export async function readTarget(sql: Query, delivery: Delivery): Promise<IntakeTarget> {
  const [target] = await readTargets(sql, [delivery])
  if (target === undefined) throw new Error("a delivery has a target")
  return target
}
