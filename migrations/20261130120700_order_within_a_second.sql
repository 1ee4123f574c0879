-- GitHub's `updated_at` counts whole seconds: of two states of a pull request of the same second, their events do not tell which came later.
-- Such an event changes nothing by itself; GitHub is asked once the second is over.

-- Records what is said of pull requests, unless something newer is known or another state of the same second, and locks their rows until
-- commit. `said` is an array of rows, by column, no pull request twice.
--
-- settles   what is said was read from GitHub after its second was over, and so is the last state of that second
-- @returns how many of them are stored now
drop function upsert_pull_requests(jsonb);
create function upsert_pull_requests(said jsonb, settles boolean default false) returns integer language plpgsql as $$
declare
  stored integer;
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
  where known.updated_at < excluded.updated_at or (known.updated_at = excluded.updated_at and (settles
    or (known.head_sha, known.base_ref, known.draft, known.open) = (excluded.head_sha, excluded.base_ref, excluded.draft, excluded.open)));
  get diagnostics stored = row_count;
  return stored;
end $$;

-- As `take_deliveries`, which servers of the previous version call, with one outcome more: `tied`, for an event whose order its second does
-- not tell. As for `changed`, nothing is done then.
create function take_ordered_deliveries(batch jsonb) returns table (place integer, outcome text, reason text, job_id uuid, delay_ms float8)
language plpgsql
-- A batch is small and the tables are not, also while statistics say otherwise: every row is found by its index, with a plan made once.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  cancelled uuid[];
  queued jsonb;
  passed_over jsonb;
  pulls jsonb;
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

  pulls := jsonb_path_query_array(batch, '$[*].pull ? (@ != null)');
  if upsert_pull_requests(pulls) < jsonb_array_length(pulls) then
    select coalesce(jsonb_agg(item) filter (where not tied), '[]'),
      coalesce(passed_over, '{}') || coalesce(jsonb_object_agg(item ->> 'place', 'tied') filter (where tied), '{}')
    into batch, passed_over
    from (
      select item, q.id is not null as tied
      from jsonb_array_elements(batch) item
      cross join lateral jsonb_populate_record(null::pull_requests, nullif(item -> 'pull', 'null')) said
      left join pull_requests q on q.project_id = said.project_id and q.number = said.number and q.updated_at = said.updated_at
        and (q.head_sha, q.base_ref, q.draft, q.open) <> (said.head_sha, said.base_ref, said.draft, said.open)
    ) compared;
  end if;

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
