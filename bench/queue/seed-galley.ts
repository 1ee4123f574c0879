import type { Sql } from "postgres"

const WORKSPACES = 8

/** Where deliveries of the benchmark come from. */
export type SeededProject = Readonly<{ hostId: string; githubInstallationId: number; githubRepositoryId: number }>

/** Eight workspaces that may run a thousand jobs each, with one active project. */
export async function seedGalley(sql: Sql): Promise<SeededProject[]> {
  await sql`
    insert into github_hosts (id, name, web_url, api_url, app_id, app_slug, sealed_private_key, private_key_key_id, webhook_secrets)
    values (uuidv7(), 'github.example', 'https://github.example', 'https://api.github.example', 1, 'galley', '', 'bench', '[{}]')`
  await sql`
    insert into workspaces (id, slug, name, max_running_jobs)
    select uuidv7(), 'workspace-' || n, 'Workspace ' || n, 1000 from generate_series(1, ${WORKSPACES}::int) n`
  await sql`
    insert into installations (id, workspace_id, host_id, github_installation_id, account_login)
    select uuidv7(), w.id, h.id, row_number() over (), w.slug from workspaces w, github_hosts h`
  return sql<SeededProject[]>`
    insert into projects (
      id, workspace_id, installation_id, host_id, github_repository_id, owner, name, web_url, git_url, settings)
    select uuidv7(), i.workspace_id, i.id, i.host_id, i.github_installation_id, i.account_login, 'checkout',
      'https://github.example/octo/checkout', 'https://github.example/octo/checkout.git', '{"active": true}'
    from installations i
    returning host_id as "hostId", github_repository_id::int as "githubInstallationId", github_repository_id::int as "githubRepositoryId"`
}

/** Jobs spread over the projects, each of a pull request of its own, and finished ones of earlier heads of these. */
export async function fillGalley(sql: Sql, jobs: { waiting: number; finished: number; firstNumber: number }): Promise<void> {
  await sql`
    insert into pull_requests (
      id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft, open,
      updated_at)
    select uuidv7(), p.workspace_id, p.id, n, 'A change', '', 'octocat', 'main', repeat('b', 40), 'topic', repeat('a', 40),
      'https://github.example/octo/checkout/pull/' || n, false, true, now()
    from generate_series(${jobs.firstNumber}::int, ${jobs.firstNumber + jobs.waiting - 1}::int) n
    join (select *, row_number() over () - 1 as place, count(*) over () as all_of_them from projects) p on p.place = n % p.all_of_them`
  const columns = sql`
    id, workspace_id, project_id, pull_request_id, state, cause, review_kind, head_sha, base_sha, head_updated_at, run_after, finished_at`
  await sql`
    insert into review_jobs (${columns})
    select uuidv7(), workspace_id, project_id, id, 'waiting', 'event', 'diff', head_sha, base_sha, updated_at,
      now() - interval '1 hour' + number * interval '1 millisecond', null
    from pull_requests where number >= ${jobs.firstNumber}`
  await sql`
    insert into review_jobs (${columns})
    select uuidv7(), workspace_id, project_id, id, 'succeeded', 'event', 'diff', repeat('c', 40), base_sha, updated_at,
      now() - interval '2 hours', now()
    from pull_requests limit ${jobs.finished}`
}
