-- Deliveries whose rows are read out of the parameter once, with their types: taking documents apart in every statement was two fifths of
-- the work.

-- Records what is said of pull requests, unless something newer is known or another state of the same second, and locks their rows until
-- commit. In place of `upsert_pull_requests`, which servers of the previous version call. `said` is an array of rows, by column, no pull request twice.
--
-- settles   what is said was read from GitHub after its second was over, and so is the last state of that second
-- @returns how many of them are stored now
create function record_pull_requests(said jsonb, settles boolean default false) returns integer language plpgsql as $$
declare
  stored integer;
begin
  insert into pull_requests as known (
    id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft, open,
    updated_at)
  select *
  from jsonb_to_recordset(said) as row (
    id uuid, workspace_id uuid, project_id uuid, number integer, title text, description text, author text, base_ref text, base_sha text,
    head_ref text, head_sha text, web_url text, draft boolean, open boolean, updated_at timestamptz)
  order by project_id, number
  on conflict (project_id, number) do update set
    title = excluded.title, description = excluded.description, author = excluded.author, base_ref = excluded.base_ref,
    base_sha = excluded.base_sha, head_ref = excluded.head_ref, head_sha = excluded.head_sha, web_url = excluded.web_url,
    draft = excluded.draft, open = excluded.open, updated_at = excluded.updated_at
  where known.updated_at < excluded.updated_at or (known.updated_at = excluded.updated_at and (settles
    or (known.head_sha, known.base_ref, known.draft, known.open) = (excluded.head_sha, excluded.base_ref, excluded.draft, excluded.open)));
  get diagnostics stored = row_count;
  return stored;
end $$;

-- Queues reviews, or moves the waiting jobs of their pull requests to the newer heads. The caller holds the locks of the pull requests.
-- `wanted` is an array of rows, by column, no pull request twice, each with
--   number        of its pull request; servers of the previous version name `pull_request_id` instead
--   debounce_ms   instead of `run_after`
--   said_at       `updated_at` in the event that wants it: nothing is queued when the pull request was changed later, or when the reconciler
--                 read it just so and queued it; null = queue in any case
create or replace function enqueue_reviews(wanted jsonb)
returns table (pull_request_id uuid, job_id uuid, is_new boolean, due timestamptz, delay_ms float8) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  insert into review_jobs as job (
    id, workspace_id, project_id, pull_request_id, state, cause, requested_by, review_kind, head_sha, base_sha, head_updated_at,
    priority, run_after)
  select
    w.id, w.workspace_id, w.project_id, q.id, 'waiting', w.cause, w.requested_by, w.review_kind, w.head_sha, w.base_sha, w.head_updated_at,
    w.priority, now() + w.debounce_ms * interval '1 millisecond'
  from jsonb_to_recordset(wanted) as w (
    id uuid, workspace_id uuid, project_id uuid, number integer, pull_request_id uuid, said_at timestamptz, cause text, requested_by text,
    review_kind text, head_sha text, base_sha text, head_updated_at timestamptz, priority smallint, debounce_ms float8)
  join pull_requests q on q.project_id = w.project_id
    and q.number = coalesce(w.number, (select o.number from pull_requests o where o.id = w.pull_request_id))
  where w.said_at is null
    or (q.updated_at = w.said_at and (q.reconciled_at, q.reconciled_sha) is distinct from (q.updated_at, w.head_sha))
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

-- `batch` without the items of these places, the keys of `places`.
create function without_places(batch jsonb, places jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(key, (
    select coalesce(jsonb_agg(item), '[]') from jsonb_array_elements(value) item where not places ? (item ->> 'place')))
  from jsonb_each(batch)
$$;

-- Takes deliveries with one commit. `batch` has three arrays; what belongs to one delivery has the same `place`, which is its number for the
-- answer.
--   deliveries   columns of `webhook_deliveries`, and
--     seen         the versions of installation and project on which its step was decided; when they changed since, nothing is done and the
--                  outcome is `changed`: decide again
--     step         ignore, cancel or enqueue
--     said_at      `updated_at` of the pull request in the event; null when that is not kept
--   pulls        what events say of pull requests of our projects: rows of `pull_requests`
--   jobs         what `enqueue_reviews` wants, of the step enqueue
-- No pull request and no delivery id comes twice in one batch. The outcome `tied` is that of an event whose order its second does not tell: as
-- for `changed`, nothing is done. In place of `take_ordered_deliveries`, which servers of the previous version call.
create function take_delivery_batch(batch jsonb) returns table (place integer, outcome text, reason text, job_id uuid, delay_ms float8)
language plpgsql
-- A batch is small and the tables are not, also while statistics say otherwise: every row is found by its index, with a plan made once.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  passed_over jsonb;
  tied jsonb;
  cancelled uuid[];
  queued_pulls uuid[];
  queued_jobs uuid[];
  delays float8[];
begin
  -- From here to the commit nobody changes settings, suspends the installation or removes the repository. What they are is read after.
  perform from projects p
  where p.id in (select d.project_id from jsonb_to_recordset(batch -> 'deliveries') d (project_id uuid))
  order by p.id
  for share;

  select jsonb_object_agg(d.place, case when d.seen <> concat(i.xmin, ' ', p.xmin) then 'changed' else 'duplicate' end) into passed_over
  from jsonb_to_recordset(batch -> 'deliveries') d (
    place integer, host_id uuid, delivery_id text, github_installation_id bigint, github_repository_id bigint, seen text)
  left join installations i on i.host_id = d.host_id and i.github_installation_id = d.github_installation_id
  left join projects p on p.host_id = d.host_id and p.github_repository_id = d.github_repository_id
    -- As when it was decided: of a stranger's event it is not the project.
    and (d.github_installation_id is null or p.installation_id = i.id)
  left join webhook_deliveries known on known.host_id = d.host_id and known.delivery_id = d.delivery_id
  where d.seen <> concat(i.xmin, ' ', p.xmin) or known.delivery_id is not null;
  if passed_over is not null then batch := without_places(batch, passed_over); end if;

  if record_pull_requests(batch -> 'pulls') < jsonb_array_length(batch -> 'pulls') then
    select jsonb_object_agg(said.place, 'tied') into tied
    from jsonb_to_recordset(batch -> 'pulls') said (
      place integer, project_id uuid, number integer, updated_at timestamptz, head_sha text, base_ref text, draft boolean, open boolean)
    join pull_requests q on q.project_id = said.project_id and q.number = said.number and q.updated_at = said.updated_at
      and (q.head_sha, q.base_ref, q.draft, q.open) <> (said.head_sha, said.base_ref, said.draft, said.open);
    if tied is not null then
      batch := without_places(batch, tied);
      passed_over := coalesce(passed_over, '{}') || tied;
    end if;
  end if;

  if jsonb_path_exists(batch, '$.deliveries[*] ? (@.step == "cancel")') then
    with ended as (
      update review_jobs j set state = 'cancelled', code = d.reason, finished_at = clock_timestamp()
      from jsonb_to_recordset(batch -> 'deliveries') d (
        step text, reason text, project_id uuid, pull_request_number integer, said_at timestamptz)
      join pull_requests q on q.project_id = d.project_id and q.number = d.pull_request_number and q.updated_at = d.said_at
      where d.step = 'cancel' and j.pull_request_id = q.id and j.state = 'waiting'
      returning j.pull_request_id
    )
    select array_agg(pull_request_id) into cancelled from ended;
  end if;

  select array_agg(e.pull_request_id), array_agg(e.job_id), array_agg(e.delay_ms) into queued_pulls, queued_jobs, delays
  from enqueue_reviews(batch -> 'jobs') e;

  return query
  with verdicts as (
    select d.*, e.job_id, e.delay_ms,
      case when e.job_id is not null then 'queued' when q.id = any(cancelled) then 'cancelled' else 'ignored' end as verdict,
      case
        when d.step = 'enqueue' and e.job_id is null then 'overtaken'
        when d.step = 'cancel' and q.updated_at > d.said_at then 'overtaken'
        else d.reason
      end as why
    from jsonb_to_recordset(batch -> 'deliveries') d (
      place integer, host_id uuid, delivery_id text, event text, action text, workspace_id uuid, project_id uuid,
      pull_request_number integer, github_installation_id bigint, github_repository_id bigint, step text, reason text, said_at timestamptz)
    left join pull_requests q on q.project_id = d.project_id and q.number = d.pull_request_number and d.step <> 'ignore'
    left join unnest(queued_pulls, queued_jobs, delays) e (pull_request_id, job_id, delay_ms) on e.pull_request_id = q.id
  ), kept as (
    -- Written once, with its verdict. A twin that came meanwhile fails here, and the whole batch with it.
    insert into webhook_deliveries (
      host_id, delivery_id, event, action, workspace_id, project_id, pull_request_number, github_installation_id, github_repository_id,
      outcome, reason, job_id)
    select
      host_id, delivery_id, event, action, workspace_id, project_id, pull_request_number, github_installation_id, github_repository_id,
      verdict, why, job_id
    from verdicts
  )
  select v.place, v.verdict, v.why, v.job_id, v.delay_ms from verdicts v
  union all
  select key::integer, value, null, null, null from jsonb_each_text(coalesce(passed_over, '{}'));
end $$;
