-- Claims and completions in few, plain statements. Starting a statement costs Postgres more than the rows of a lone job: one that joins,
-- sorts and aggregates in the general way was measured at three times the time of a loop over the same rows by their keys.

-- Workspaces with waiting jobs take turns in the order of their ids, so that a claim looks at the next ones and not at all of them. Whom the
-- runners that work for all served last, for each set of kinds: runners of other kinds, or of one workspace, must not move this one on.
create table claim_turns (
  -- In their order, with commas between them.
  kinds text primary key,
  last_workspace uuid not null
) with (fillfactor = 10);

drop function choose_review_jobs;

-- Chooses up to `wanted` jobs of the given kinds and locks them with their pull requests. Workspaces take turns, each up to its cap; within
-- a workspace priority and age decide. `only_workspace` null = any. What another transaction holds is passed over. The caller holds the
-- claim lock.
create function choose_review_jobs(kinds text[], only_workspace uuid, wanted integer)
returns table (job_id uuid, pull_request_id uuid, workspace_id uuid) language plpgsql
-- The tables are large and the answer is small, also while statistics say otherwise: jobs are read in the order of their index, never
-- sorted. Planning anew costs more than choosing.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set enable_sort = off set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  before_all constant uuid := '00000000-0000-0000-0000-000000000000';
  proven constant text[] := array(select distinct kind from unnest(kinds) kind order by kind);
  -- A value, so that the index ends the search where jobs are not due.
  due constant timestamptz := clock_timestamp();
  after uuid := coalesce((select t.last_workspace from claim_turns t where t.kinds = array_to_string(proven, ',') and only_workspace is null), before_all);
  -- Where a round ends: behind it nothing was found.
  up_to uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  share integer := 1;
  jobs uuid[] := '{}';
  pulls uuid[] := '{}';
  served uuid[] := '{}';
  found_jobs uuid[];
  found_pulls uuid[];
  found_served uuid[];
begin
  while cardinality(jobs) < wanted loop
    with recursive turn (id) as (
      -- Workspaces with waiting jobs, found by jumping through the index, and only as many as are needed.
      select coalesce(only_workspace, (
        select j.workspace_id from review_jobs j
        where j.state = 'waiting' and j.workspace_id > after and j.workspace_id <= up_to order by j.workspace_id limit 1))
      union all
      select (
        select j.workspace_id from review_jobs j
        where j.state = 'waiting' and j.workspace_id > turn.id and j.workspace_id <= up_to order by j.workspace_id limit 1)
      from turn where turn.id is not null and only_workspace is null
    )
    select array_agg(k.id), array_agg(k.pull_request_id), array_agg(k.workspace_id) into found_jobs, found_pulls, found_served
    from (
      select best.id, best.pull_request_id, w.id as workspace_id
      from turn
      join workspaces w on w.id = turn.id
      cross join lateral (
        select least(share, w.max_running_jobs - cardinality(array_positions(served, w.id)) - (
          select count(*) from review_jobs r where r.workspace_id = w.id and r.state = 'running')) as seats
      ) room
      cross join lateral (
        select its.* from unnest(proven) kind
        cross join lateral (
          select j.id, j.pull_request_id, j.priority, j.run_after
          from review_jobs j join pull_requests q on q.id = j.pull_request_id
          where j.state = 'waiting' and j.review_kind = kind and j.workspace_id = w.id and j.run_after <= due and j.id <> all (jobs)
            -- Not as an anti-join: that reads all busy jobs.
            and (
              select b.id from review_jobs b where b.pull_request_id = j.pull_request_id and b.state in ('running', 'publishing')) is null
          order by j.priority desc, j.run_after
          limit greatest(room.seats, 0)
          for update of j, q skip locked
        ) its
        order by its.priority desc, its.run_after
        limit greatest(room.seats, 0)
      ) best
      limit wanted - cardinality(jobs)
    ) k;

    -- The first round began where the last claim ended; the others begin at the first workspace.
    exit when found_jobs is null and after = before_all;
    if found_jobs is null then up_to := after; end if;
    jobs := jobs || coalesce(found_jobs, '{}');
    pulls := pulls || coalesce(found_pulls, '{}');
    served := served || coalesce(found_served, '{}');
    -- One round told how many have jobs; the next one gives each its part of what is left.
    if after = before_all then share := greatest(1, (wanted - cardinality(jobs)) / cardinality(found_jobs)); end if;
    after := before_all;
  end loop;

  if only_workspace is null and cardinality(jobs) > 0 then
    insert into claim_turns (kinds, last_workspace) values (array_to_string(proven, ','), served[cardinality(served)])
    on conflict on constraint claim_turns_pkey do update set last_workspace = excluded.last_workspace;
  end if;
  return query select * from unnest(jobs, pulls, served);
end $$;

-- Serves many runners at once: `requests` is an array of {requestId, runId, runnerId, workspaceId, kinds, tokenHash}, in the order
-- in which the runners came. A claim is one transaction under one lock: only so are the caps of workspaces exact. Requests that ask for
-- the same choose together.
create or replace function claim_review_jobs(requests jsonb, lease_ms integer) returns table (request_id uuid, lease jsonb)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  alike record;
  chosen record;
  asked jsonb;
  leased review_jobs;
  next_fence bigint;
  leases uuid[];
  repeated uuid[];
begin
  perform pg_advisory_xact_lock(724001);
  perform expire_review_leases();

  -- An answer that was lost: the same lease again while it lasts, and never a second job.
  select array_agg(r.id) filter (where r.outcome = 'running' and r.runner_id = a."runnerId"), array_agg(r.request_id)
  into leases, repeated
  from jsonb_to_recordset(requests) a ("requestId" uuid, "runnerId" uuid) join review_runs r on r.request_id = a."requestId";

  for alike in
    select a.one -> 'kinds' as kinds, (a.one ->> 'workspaceId')::uuid as workspace_id, array_agg(a.one order by a.n) as requests
    from jsonb_array_elements(requests) with ordinality a (one, n)
    -- A poll waits for up to 25 s: meanwhile its runner may have been paused or removed. One that is being changed is passed over: nobody
    -- else waits for it, and it gets no lease that its removal would not see.
    cross join lateral (
      select from runners r where r.id = (a.one ->> 'runnerId')::uuid and not r.paused and r.removed_at is null
      for key share skip locked) fit
    where repeated is null or (a.one ->> 'requestId')::uuid <> all (repeated)
    group by 1, 2
    order by min(a.n)
  loop
    for chosen in
      select * from choose_review_jobs(
        array(select jsonb_array_elements_text(alike.kinds)), alike.workspace_id, cardinality(alike.requests)) with ordinality
    loop
      asked := alike.requests[chosen.ordinality];
      update pull_requests q set fence = q.fence + 1 where q.id = chosen.pull_request_id returning q.fence into next_fence;
      update review_jobs j set
        state = 'running', attempt = j.attempt + 1, fence = next_fence, run_id = (asked ->> 'runId')::uuid,
        lease_token_hash = decode(asked ->> 'tokenHash', 'hex'),
        lease_expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
      where j.id = chosen.job_id
      returning j.* into leased;
      insert into review_runs (
        id, workspace_id, project_id, pull_request_id, job_id, runner_id, request_id, attempt, fence, review_kind, head_sha, base_sha)
      values (
        leased.run_id, leased.workspace_id, leased.project_id, leased.pull_request_id, leased.id, (asked ->> 'runnerId')::uuid,
        (asked ->> 'requestId')::uuid, leased.attempt, leased.fence, leased.review_kind, leased.head_sha, leased.base_sha);
      leases := leases || leased.run_id;
    end loop;
  end loop;

  if leases is not null then
    return query select f.request_id, f.lease from review_lease_facts(leases) f;
  end if;
end $$;

-- Ends leases with what their runners handed over, with one commit. An item of `results` is {leaseId, runnerId, tokenHash, fence, outcome, code,
-- usage, digest, state, findings, coverage, trace, comment}; no lease comes twice. The answer says for each lease `stored`, `repeated` (the
-- same result was stored before), `result_conflict` (another one was) or `lease_lost`, and of a stored one the state of its job: a job that a
-- person stopped is `cancelled`, also when its result came before its runner heard of that.
create or replace function complete_reviews(results jsonb)
returns table (lease_id uuid, answer text, job_id uuid, workspace_id uuid, job_state text) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  item jsonb;
  ended review_jobs;
  known bytea;
begin
  for item in select jsonb_array_elements(results) loop
    lease_id := (item ->> 'leaseId')::uuid;
    update review_jobs j set
      state = case when j.cancel_code is not null then 'cancelled' when item ->> 'outcome' = 'reviewed' then 'publishing' else 'skipped' end,
      code = coalesce(j.cancel_code, item ->> 'code'),
      finished_at = case when j.cancel_code is null and item ->> 'outcome' = 'reviewed' then null else clock_timestamp() end,
      lease_token_hash = null, lease_expires_at = null
    from review_runs r
    where r.id = lease_id and r.runner_id = (item ->> 'runnerId')::uuid and j.id = r.job_id and j.run_id = r.id and j.state = 'running'
      and j.fence = (item ->> 'fence')::bigint and j.lease_token_hash = decode(item ->> 'tokenHash', 'hex')
      and j.lease_expires_at > clock_timestamp()
    returning j.* into ended;
    job_id := ended.id;
    workspace_id := ended.workspace_id;
    job_state := ended.state;

    if ended.id is not null then
      answer := 'stored';
      insert into review_results (run_id, digest, state, findings, coverage, trace, comment) values (
        lease_id, decode(item ->> 'digest', 'hex'), nullif(item -> 'state', 'null'), item -> 'findings', item -> 'coverage',
        item -> 'trace', item ->> 'comment');
      update review_runs r set
        outcome = case when ended.state = 'cancelled' then 'cancelled' else item ->> 'outcome' end,
        code = ended.code, phase = 'handing_over', usage = item -> 'usage', ended_at = clock_timestamp()
      where r.id = lease_id;
    else
      select s.digest into known from review_runs r join review_results s on s.run_id = r.id
      where r.id = lease_id and r.runner_id = (item ->> 'runnerId')::uuid;
      answer := case
        when known is null then 'lease_lost'
        when known = decode(item ->> 'digest', 'hex') then 'repeated'
        else 'result_conflict'
      end;
    end if;
    return next;
  end loop;
end $$;
