-- Claims and completions of a lone job in as few statements as they can be: starting one costs Postgres about as much as writing a row.
-- What plpgsql evaluates without a table (a lock, a step through a document) starts none, so documents are gone through by place.

-- In place of `lease_review_job`, which claims that are under way at the migration still call; a later version can drop it.
-- Gives a waiting job, whose row and pull request the caller locked, to a runner. `asked` is an item of `claim_review_jobs`.
-- @returns the lease, as `review_lease` tells it
create function lease_locked_job(
  job_id uuid, pull pull_requests, project projects, github_installation_id bigint, asked jsonb, lease_ms integer)
returns jsonb language plpgsql as $$
declare
  run review_runs;
begin
  with job as (
    update review_jobs j set
      state = 'running', attempt = j.attempt + 1, fence = nextval('review_fences'), run_id = (asked ->> 'runId')::uuid,
      lease_token_hash = decode(asked ->> 'tokenHash', 'hex'),
      lease_expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
    where j.id = job_id
    returning j.*
  )
  insert into review_runs as r (
    id, workspace_id, project_id, pull_request_id, job_id, runner_id, request_id, attempt, fence, review_kind, head_sha, base_sha)
  select
    j.run_id, j.workspace_id, j.project_id, j.pull_request_id, j.id, (asked ->> 'runnerId')::uuid, (asked ->> 'requestId')::uuid,
    j.attempt, j.fence, j.review_kind, j.head_sha, j.base_sha
  from job j
  returning r.* into run;
  return review_lease(run, pull, project, github_installation_id, earlier_usage(run));
end $$;

-- Leases jobs of the given kinds, each named once, to the runners of `asked`, one each, as long as there are jobs. Workspaces take turns,
-- each up to its cap; within a workspace priority and age decide. `only_workspace` null = any. What another transaction holds is passed over.
-- The caller holds the claim lock.
create or replace function lease_review_jobs(kinds text[], only_workspace uuid, asked jsonb[], lease_ms integer) returns jsonb[]
language plpgsql as $$
declare
  before_all constant uuid := '00000000-0000-0000-0000-000000000000';
  its_turn constant text := array_to_string(kinds, ',');
  wanted constant integer := cardinality(asked);
  -- A value, so that the index ends the search where jobs are not due.
  due constant timestamptz := clock_timestamp();
  leases jsonb[] := '{}';
  -- The workspace that was looked at last, and where a round ends: behind it nothing was found.
  after uuid := before_all;
  begun_after uuid;
  up_to uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
  served uuid;
  -- What a workspace gets of a round, and whether this round begins with the first one.
  share integer := 1;
  is_whole boolean;
  seats integer;
  before integer;
  givers integer;
  best record;
begin
  if only_workspace is null then
    select t.last_workspace into after from claim_turns t where t.kinds = its_turn;
    after := coalesce(after, before_all);
  end if;
  begun_after := after;
  is_whole := begun_after = before_all;
  while cardinality(leases) < wanted loop
    givers := 0;
    while cardinality(leases) < wanted loop
      before := cardinality(leases);
      select w.id, least(share, wanted - before, w.max_running_jobs - (
        select count(*) from review_jobs r where r.workspace_id = w.id and (r.lease_token_hash is not null) is true))
      into after, seats
      from workspaces w
      where w.id = case
        -- Jumps through the index to the next workspace with waiting jobs.
        when only_workspace is null then (
          select j.workspace_id from review_jobs j
          where (j.state = 'waiting') is true and j.workspace_id > after and j.workspace_id <= up_to order by j.workspace_id limit 1)
        when after < only_workspace then only_workspace
      end;
      exit when not found;
      continue when seats <= 0;
      for best in
        select its_best.* from unnest(kinds) kind
        cross join lateral (
          select j.id, q as pull, p as project, i.github_installation_id, j.priority, j.run_after
          from review_jobs j
          join pull_requests q on q.id = j.pull_request_id
          join projects p on p.id = j.project_id
          join installations i on i.id = p.installation_id
          where (j.state = 'waiting') is true and j.review_kind = kind and j.workspace_id = after and j.run_after <= due
            -- Not as an anti-join: that reads all busy jobs.
            and (
              select b.id from review_jobs b
              where b.pull_request_id = j.pull_request_id and (b.state in ('running', 'publishing')) is true) is null
          order by j.priority desc, j.run_after
          limit seats
          for update of j, q skip locked
        ) its_best
        order by its_best.priority desc, its_best.run_after
        limit seats
      loop
        leases := leases || lease_locked_job(
          best.id, best.pull, best.project, best.github_installation_id, asked[cardinality(leases) + 1], lease_ms);
      end loop;
      if cardinality(leases) > before then
        givers := givers + 1;
        served := after;
      end if;
    end loop;

    exit when is_whole and givers = 0;
    -- The first round began where the last claim ended.
    if givers = 0 then up_to := begun_after; end if;
    -- A whole round told how many have jobs; the next one gives each its part of what is left.
    if is_whole then share := greatest(1, (wanted - cardinality(leases)) / givers); end if;
    is_whole := true;
    after := before_all;
  end loop;

  if only_workspace is null and served is not null then
    update claim_turns t set last_workspace = served where t.kinds = its_turn;
    if not found then insert into claim_turns (kinds, last_workspace) values (its_turn, served); end if;
  end if;
  return leases;
end $$;

-- Serves many runners at once: `requests` is an array of {requestId, runId, runnerId, workspaceId, kinds, tokenHash}, in the order
-- in which the runners came, kinds in one order: a list in another order chooses apart and has turns of its own. A claim is one transaction under one lock: only so are the caps of workspaces exact. Requests that ask for
-- the same choose together.
create or replace function claim_review_jobs(requests jsonb, lease_ms integer) returns table (request_id uuid, lease jsonb)
language plpgsql
-- The tables are large and the answer is small, also while statistics say otherwise: jobs are read in the order of their index, never
-- sorted. Planning anew costs more than choosing. So also for what is called from here.
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set enable_sort = off set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  no_answer text;
  asked jsonb;
  known uuid;
  may_work boolean;
  unserved jsonb[] := '{}';
  alike jsonb[];
  others jsonb[];
  kind text;
  its_kinds text[];
  leases jsonb[];
  due constant timestamptz := clock_timestamp();
begin
  -- An assignment: `perform` would start a statement.
  no_answer := pg_advisory_xact_lock(724001);
  perform from review_jobs where (state = 'running') is true and lease_expires_at <= due order by lease_expires_at limit 1;
  if found then perform expire_review_leases(); end if;

  for nth in 0 .. jsonb_array_length(requests) - 1 loop
    asked := requests -> nth;
    select
      (select r.id from review_runs r where r.request_id = (asked ->> 'requestId')::uuid),
      -- A poll waits for up to 25 s: meanwhile its runner may have been paused or removed. One that is being changed is passed over: nobody
      -- else waits for it, and it gets no lease that its removal would not see.
      (select true from runners w
        where w.id = (asked ->> 'runnerId')::uuid and not w.paused and w.removed_at is null for key share skip locked)
    into known, may_work;
    if known is not null then
      -- An answer that was lost: the same lease again while it lasts, and never a second job.
      return query
      select f.request_id, f.lease from review_runs r, review_lease_facts(array[known]) f
      where r.id = known and r.outcome = 'running' and r.runner_id = (asked ->> 'runnerId')::uuid;
    elsif may_work then
      unserved := unserved || asked;
    end if;
  end loop;

  while cardinality(unserved) > 0 loop
    alike := '{}';
    others := '{}';
    foreach asked in array unserved loop
      if asked -> 'kinds' = unserved[1] -> 'kinds' and asked -> 'workspaceId' = unserved[1] -> 'workspaceId' then
        alike := alike || asked;
      else
        others := others || asked;
      end if;
    end loop;
    unserved := others;
    asked := alike[1];
    its_kinds := '{}';
    for nth in 0 .. jsonb_array_length(asked -> 'kinds') - 1 loop
      kind := asked -> 'kinds' ->> nth;
      if kind <> all(its_kinds) then its_kinds := its_kinds || kind; end if;
    end loop;
    leases := lease_review_jobs(its_kinds, (asked ->> 'workspaceId')::uuid, alike, lease_ms);
    for nth in 1 .. cardinality(leases) loop
      request_id := (alike[nth] ->> 'requestId')::uuid;
      lease := leases[nth];
      return next;
    end loop;
  end loop;
end $$;

-- Ends leases with what their runners handed over, with one commit. An item of `results` is {leaseId, runnerId, tokenHash, fence, outcome,
-- code, usage, digest, state, findings, coverage, trace, comment}; no lease comes twice. The answer says for each lease `stored`, `repeated`
-- (the same result was stored before), `result_conflict` (another one was) or `lease_lost`, and of a stored one the state of its job: a job
-- that a person stopped is `cancelled`, also when its result came before its runner heard of that.
create or replace function complete_reviews(results jsonb)
returns table (lease_id uuid, answer text, job_id uuid, workspace_id uuid, job_state text) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  item jsonb;
  its_code text;
  known bytea;
begin
  if jsonb_array_length(results) > 1 then
    -- In one order everywhere, so that two calls with the same leases never deadlock.
    select jsonb_agg(one order by one ->> 'leaseId') into results from jsonb_array_elements(results) one;
  end if;
  for nth in 0 .. jsonb_array_length(results) - 1 loop
    item := results -> nth;
    lease_id := (item ->> 'leaseId')::uuid;
    for look in 1 .. 2 loop
      update review_jobs j set
        state = case
          when j.cancel_code is not null then 'cancelled' when item ->> 'outcome' = 'reviewed' then 'publishing' else 'skipped' end,
        code = coalesce(j.cancel_code, item ->> 'code'),
        finished_at = case when j.cancel_code is not null or item ->> 'outcome' <> 'reviewed' then clock_timestamp() end,
        lease_token_hash = null, lease_expires_at = null
      from review_runs r
      where r.id = lease_id and r.runner_id = (item ->> 'runnerId')::uuid
        and j.id = r.job_id and j.run_id = r.id and j.fence = (item ->> 'fence')::bigint
        and j.lease_token_hash = decode(item ->> 'tokenHash', 'hex') and j.lease_expires_at > clock_timestamp()
      returning j.id, j.workspace_id, j.state, j.code into job_id, workspace_id, job_state, its_code;
      exit when job_id is not null or look = 2;
      -- A renewal that is under way counts, but the statement above still saw the lease as run out and did not wait: a second look, at the row
      -- as it is after that. Not for a lease whose job another one has by now: its row
      -- would be locked out of order.
      perform from review_jobs j
      where j.id = (select r.job_id from review_runs r where r.id = lease_id) and j.run_id = lease_id
      for update;
    end loop;
    if job_id is not null then
      answer := 'stored';
      insert into review_results (run_id, digest, state, findings, coverage, trace, comment) values (
        lease_id, decode(item ->> 'digest', 'hex'), nullif(item -> 'state', 'null'), item -> 'findings', item -> 'coverage',
        item -> 'trace', item ->> 'comment');
      update review_runs r set
        outcome = case when job_state = 'cancelled' then 'cancelled' else item ->> 'outcome' end,
        code = its_code, phase = 'handing_over', usage = item -> 'usage', ended_at = clock_timestamp()
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
