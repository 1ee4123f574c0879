-- Intake for many deliveries at once. Starting a statement on these tables (indexes, checks, plans) costs Postgres more than the row it
-- writes, and a commit waits for the disk: so each function takes an array and works with one statement per table.
-- Locks are taken in the order project, pull request, job, and of each in the order of their keys.

-- Records what events say of pull requests, unless something newer is known (deliveries come in any order), and locks their rows until
-- commit. `said` is an array of rows, by column, no pull request twice.
create function upsert_pull_requests(said jsonb) returns void language plpgsql as $$
begin
  insert into pull_requests as known (
    id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft, open,
    updated_at)
  select
    id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft, open,
    updated_at
  from jsonb_populate_recordset(null::pull_requests, said)
  order by project_id, number
  on conflict (project_id, number) do update set
    title = excluded.title, description = excluded.description, author = excluded.author, base_ref = excluded.base_ref,
    base_sha = excluded.base_sha, head_ref = excluded.head_ref, head_sha = excluded.head_sha, web_url = excluded.web_url,
    draft = excluded.draft, open = excluded.open, updated_at = excluded.updated_at
  where known.updated_at <= excluded.updated_at;
end $$;

-- Queues reviews, or moves the waiting jobs of their pull requests to the newer heads. The caller holds the locks of the pull requests.
-- `wanted` is an array of rows, by column, no pull request twice, each with `debounce_ms` instead of `run_after`.
create function enqueue_reviews(wanted jsonb)
returns table (pull_request_id uuid, job_id uuid, is_new boolean, due timestamptz, delay_ms float8) language plpgsql as $$
#variable_conflict use_column
begin
  return query
  insert into review_jobs as job (
    id, workspace_id, project_id, pull_request_id, state, cause, requested_by, review_kind, head_sha, base_sha, head_updated_at,
    priority, run_after)
  select
    id, workspace_id, project_id, pull_request_id, 'waiting', cause, requested_by, review_kind, head_sha, base_sha, head_updated_at,
    priority, now() + debounce_ms * interval '1 millisecond'
  from jsonb_to_recordset(wanted) as w (
    id uuid, workspace_id uuid, project_id uuid, pull_request_id uuid, cause text, requested_by text, review_kind text, head_sha text,
    base_sha text, head_updated_at timestamptz, priority smallint, debounce_ms float8)
  on conflict (pull_request_id) where state = 'waiting' do update set
    -- An older head never replaces a newer one.
    head_sha = case when excluded.head_updated_at >= job.head_updated_at then excluded.head_sha else job.head_sha end,
    base_sha = case when excluded.head_updated_at >= job.head_updated_at then excluded.base_sha else job.base_sha end,
    review_kind = case when excluded.head_updated_at >= job.head_updated_at then excluded.review_kind else job.review_kind end,
    head_updated_at = greatest(excluded.head_updated_at, job.head_updated_at),
    failures = case when excluded.head_updated_at >= job.head_updated_at and excluded.head_sha <> job.head_sha then 0 else job.failures end,
    cause = case when excluded.priority > job.priority then excluded.cause else job.cause end,
    requested_by = case when excluded.priority > job.priority then excluded.requested_by else job.requested_by end,
    priority = greatest(job.priority, excluded.priority),
    -- Pushes put a job off until 300 s after it was queued; an urgent request brings it forward, and no push delays it again.
    run_after = case
      when greatest(job.priority, excluded.priority) > 0 then least(job.run_after, excluded.run_after)
      when excluded.head_updated_at < job.head_updated_at then job.run_after
      else least(excluded.run_after, job.first_queued_at + interval '300 seconds') end
  returning job.pull_request_id, job.id, xmax = 0, job.run_after,
    (extract(epoch from job.run_after - clock_timestamp()) * 1000)::float8;
end $$;

-- Takes deliveries with one commit. An item names the columns of `webhook_deliveries` and has
--   place      its number, for the answer
--   seen       the versions of installation and project on which its step was decided; when they changed since, nothing is done and
--              the outcome is `changed`: decide again
--   step       ignore, cancel or enqueue
--   pull       what the event says of its pull request, a row of `pull_requests`; null when it names none or the project is not ours
--   job        the wanted job without its pull request; null unless `enqueue`
-- No pull request and no delivery id comes twice in one batch.
create function take_deliveries(batch jsonb) returns table (place integer, outcome text, reason text, job_id uuid, delay_ms float8)
language plpgsql
-- A batch is small and the tables are not, also while statistics say otherwise: every row is found by its index, with a plan made once.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  cancelled uuid[];
  queued jsonb;
  passed_over jsonb;
begin
  -- From here to the commit nobody changes settings, suspends the installation or removes the repository. What they are is read after.
  perform from projects p
  where p.id in (select (item ->> 'project_id')::uuid from jsonb_array_elements(batch) item)
  order by p.id
  for share;

  select coalesce(jsonb_agg(item) filter (where verdict is null), '[]'), jsonb_object_agg(item ->> 'place', verdict) filter (where verdict is not null)
  into batch, passed_over
  from (
    select item,
      case
        when item ->> 'seen' <> concat(i.xmin, ' ', p.xmin) then 'changed'
        when d.delivery_id is not null then 'duplicate'
      end as verdict
    from jsonb_array_elements(batch) item
    left join installations i
      on i.host_id = (item ->> 'host_id')::uuid and i.github_installation_id = (item ->> 'github_installation_id')::bigint
    left join projects p on p.host_id = (item ->> 'host_id')::uuid and p.github_repository_id = (item ->> 'github_repository_id')::bigint
      -- As when it was decided: of a stranger's event it is not the project.
      and (item ->> 'github_installation_id' is null or p.installation_id = i.id)
    left join webhook_deliveries d on d.host_id = (item ->> 'host_id')::uuid and d.delivery_id = item ->> 'delivery_id'
  ) looked_at;

  perform upsert_pull_requests(jsonb_path_query_array(batch, '$[*].pull ? (@ != null)'));

  if jsonb_path_exists(batch, '$[*] ? (@.step == "cancel")') then
    with ended as (
      update review_jobs j set state = 'cancelled', code = item ->> 'reason', finished_at = clock_timestamp()
      from jsonb_array_elements(batch) item
      join pull_requests q on q.project_id = (item ->> 'project_id')::uuid and q.number = (item ->> 'pull_request_number')::integer
      where item ->> 'step' = 'cancel' and j.pull_request_id = q.id and j.state = 'waiting'
        and q.updated_at = (item #>> '{pull,updated_at}')::timestamptz
      returning j.pull_request_id
    )
    select array_agg(pull_request_id) into cancelled from ended;
  end if;

  select jsonb_object_agg(e.pull_request_id, jsonb_build_object('id', e.job_id, 'delayMs', e.delay_ms)) into queued
  from enqueue_reviews((
    select coalesce(jsonb_agg(item -> 'job' || jsonb_build_object('pull_request_id', q.id)), '[]')
    from jsonb_array_elements(batch) item
    join pull_requests q on q.project_id = (item ->> 'project_id')::uuid and q.number = (item ->> 'pull_request_number')::integer
    -- One that was overtaken says nothing that is not known better.
    where item ->> 'step' = 'enqueue' and q.updated_at = (item #>> '{pull,updated_at}')::timestamptz
      -- Nor does one that the reconciler forestalled: it read the pull request just so, and queued it.
      and (q.reconciled_at, q.reconciled_sha) is distinct from (q.updated_at, item #>> '{pull,head_sha}')
  )) e;

  return query
  with verdicts as (
    select (item ->> 'place')::integer as place, d.*,
      case
        when queued ? q.id::text then 'queued'
        when q.id = any(cancelled) then 'cancelled'
        else 'ignored'
      end as verdict,
      case
        when item ->> 'step' = 'enqueue' and not coalesce(queued ? q.id::text, false) then 'overtaken'
        when item ->> 'step' = 'cancel' and q.updated_at > (item #>> '{pull,updated_at}')::timestamptz then 'overtaken'
        else item ->> 'reason'
      end as why,
      queued -> q.id::text as job
    from jsonb_array_elements(batch) item
    cross join lateral jsonb_populate_record(null::webhook_deliveries, item) d
    left join pull_requests q on q.project_id = d.project_id and q.number = d.pull_request_number and item ->> 'step' <> 'ignore'
  ), kept as (
    -- Written once, with its verdict. A twin that came meanwhile fails here, and the whole batch with it.
    insert into webhook_deliveries (
      host_id, delivery_id, event, action, workspace_id, project_id, pull_request_number, github_installation_id, github_repository_id,
      outcome, reason, job_id)
    select
      host_id, delivery_id, event, action, workspace_id, project_id, pull_request_number, github_installation_id, github_repository_id,
      verdict, why, (job ->> 'id')::uuid
    from verdicts
  )
  select v.place, v.verdict, v.why, (v.job ->> 'id')::uuid, (v.job ->> 'delayMs')::float8 from verdicts v
  union all
  select key::integer, value, null, null, null from jsonb_each_text(coalesce(passed_over, '{}'));
end $$;
