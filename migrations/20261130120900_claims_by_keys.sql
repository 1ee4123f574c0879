-- Claims in few, plain statements. Starting a statement costs Postgres more than the rows of a lone job: one that joins,
-- sorts and aggregates in the general way was measured at three times the time of a loop over the same rows by their keys.

-- Settles jobs whose lease ran out. Rows in use by another transaction are left for the next call.
create or replace function expire_review_leases() returns table (job_id uuid, run_id uuid, workspace_id uuid, state text)
language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set enable_sort = off set plan_cache_mode = force_generic_plan as $$
declare
  expired record;
  -- A value, so that the index of the leases answers: as a function that changes, it made each claim read all busy jobs.
  due constant timestamptz := clock_timestamp();
begin
  for expired in
    select j.id, j.run_id, j.workspace_id, j.failures
    from review_jobs j
    join projects p on p.id = j.project_id
    join pull_requests q on q.id = j.pull_request_id
    where (j.state = 'running') is true and j.lease_expires_at <= due
    order by j.lease_expires_at
    limit 100
    for share of p skip locked
    for update of q, j skip locked
  loop
    job_id := expired.id;
    run_id := expired.run_id;
    workspace_id := expired.workspace_id;
    state := settle_review_attempt(expired.id, 'lost', 'runner_lost', null, true, review_retry_delay(expired.failures));
    return next;
  end loop;
end $$;

-- What a lease tells its runner, apart from the tokens. `earlier_usage` is that of earlier attempts at its job.
create function review_lease(run review_runs, pull pull_requests, project projects, github_installation_id bigint, earlier_usage jsonb)
returns jsonb language sql stable as $$
  select jsonb_build_object(
    'leaseId', run.id, 'fence', run.fence, 'attempt', run.attempt, 'workspaceId', run.workspace_id, 'runnerId', run.runner_id,
    'jobId', run.job_id, 'kind', run.review_kind, 'headSha', run.head_sha, 'baseSha', run.base_sha,
    'project', jsonb_build_object(
      'id', project.id, 'owner', project.owner, 'name', project.name, 'gitUrl', project.git_url, 'settings', project.settings,
      'githubRepositoryId', project.github_repository_id),
    'installation', jsonb_build_object('hostId', project.host_id, 'githubInstallationId', github_installation_id),
    'pullRequest', jsonb_build_object(
      'id', pull.id, 'number', pull.number, 'title', pull.title, 'description', pull.description, 'author', pull.author,
      'baseRef', pull.base_ref, 'headRef', pull.head_ref, 'webUrl', pull.web_url),
    'lastReviewedSha', pull.last_reviewed_sha, 'commentId', pull.comment_id,
    'publishedState', pull.published_state, 'publishedDigest', encode(pull.published_digest, 'hex'),
    'earlierUsage', earlier_usage)
$$;

create function earlier_usage(run review_runs) returns jsonb language plpgsql stable as $$
begin
  if run.attempt = 1 then return '[]'; end if;
  return coalesce(
    (select jsonb_agg(e.usage) from review_runs e where e.job_id = run.job_id and e.id <> run.id and e.usage <> '{}'), '[]');
end $$;

create or replace function review_lease_facts(leases uuid[]) returns table (id uuid, request_id uuid, lease jsonb) language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select r.id, r.request_id, review_lease(r, q, p, i.github_installation_id, earlier_usage(r))
  from unnest(leases) wanted (id)
  join review_runs r on r.id = wanted.id
  join pull_requests q on q.id = r.pull_request_id
  join projects p on p.id = r.project_id
  join installations i on i.id = p.installation_id;
end $$;

-- Where fences come from. A number that grows with every lease grows with those of a pull request too, without writing to its row. The lock
-- of this statement keeps claims of the previous version out until the sequence stands above all their fences.
alter table pull_requests drop constraint pull_requests_check;
create sequence review_fences;
select setval('review_fences', 1 + coalesce((select max(fence) from pull_requests), 0), false);

-- Gives a waiting job, whose row and pull request the caller locked, to a runner. `asked` is an item of `claim_review_jobs`.
-- @returns the lease, as `review_lease` tells it
create function lease_review_job(job_id uuid, pull pull_requests, asked jsonb, lease_ms integer) returns jsonb language plpgsql as $$
declare
  job review_jobs;
  run review_runs;
  project projects;
  github_installation_id bigint;
begin
  update review_jobs j set
    state = 'running', attempt = j.attempt + 1, fence = nextval('review_fences'), run_id = (asked ->> 'runId')::uuid,
    lease_token_hash = decode(asked ->> 'tokenHash', 'hex'),
    lease_expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
  where j.id = job_id
  returning j.* into job;
  insert into review_runs as r (
    id, workspace_id, project_id, pull_request_id, job_id, runner_id, request_id, attempt, fence, review_kind, head_sha, base_sha)
  values (
    job.run_id, job.workspace_id, job.project_id, job.pull_request_id, job.id, (asked ->> 'runnerId')::uuid,
    (asked ->> 'requestId')::uuid, job.attempt, job.fence, job.review_kind, job.head_sha, job.base_sha)
  returning r.* into run;
  select p.* into project from projects p where p.id = job.project_id;
  select i.github_installation_id into github_installation_id from installations i where i.id = project.installation_id;
  return review_lease(run, pull, project, github_installation_id, earlier_usage(run));
end $$;

-- In place of `choose_review_jobs`, which claims that are under way at the migration still call.
-- Leases jobs of the given kinds, each named once, to the runners of `asked`, one each, as long as there are jobs. Workspaces take turns,
-- each up to its cap; within a workspace priority and age decide. `only_workspace` null = any. What another transaction holds is passed over.
-- The caller holds the claim lock.
create function lease_review_jobs(kinds text[], only_workspace uuid, asked jsonb[], lease_ms integer) returns jsonb[] language plpgsql
as $$
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
  its uuid;
  -- What a workspace gets of a round, and whether this round begins with the first one.
  share integer := 1;
  is_whole boolean;
  seats integer;
  before integer;
  givers integer;
  best record;
begin
  if only_workspace is null then
    after := coalesce((select t.last_workspace from claim_turns t where t.kinds = its_turn), before_all);
  end if;
  begun_after := after;
  is_whole := begun_after = before_all;
  while cardinality(leases) < wanted loop
    givers := 0;
    while cardinality(leases) < wanted loop
      if only_workspace is null then
        -- Jumps through the index to the next workspace with waiting jobs.
        select j.workspace_id into its from review_jobs j
        where (j.state = 'waiting') is true and j.workspace_id > after and j.workspace_id <= up_to order by j.workspace_id limit 1;
      else
        its := case when after < only_workspace then only_workspace end;
      end if;
      exit when its is null;
      after := its;
      before := cardinality(leases);

      select least(share, wanted - before, w.max_running_jobs - (
        select count(*) from review_jobs r where r.workspace_id = w.id and (r.lease_token_hash is not null) is true)) into seats
      from workspaces w where w.id = its;
      continue when seats <= 0;
      for best in
        select its_best.* from unnest(kinds) kind
        cross join lateral (
          select j.id, q as pull, j.priority, j.run_after
          from review_jobs j join pull_requests q on q.id = j.pull_request_id
          where (j.state = 'waiting') is true and j.review_kind = kind and j.workspace_id = its and j.run_after <= due
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
        leases := leases || lease_review_job(best.id, best.pull, asked[cardinality(leases) + 1], lease_ms);
      end loop;
      if cardinality(leases) > before then
        givers := givers + 1;
        served := its;
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
-- in which the runners came. A claim is one transaction under one lock: only so are the caps of workspaces exact. Requests that ask for
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
  asked jsonb;
  known review_runs;
  -- What is asked for, and who asks for it.
  wishes jsonb[] := '{}';
  groups jsonb := '[]';
  wish jsonb;
  place integer;
  leases jsonb[];
  due constant timestamptz := clock_timestamp();
begin
  perform pg_advisory_xact_lock(724001);
  perform from review_jobs where (state = 'running') is true and lease_expires_at <= due order by lease_expires_at limit 1;
  if found then perform expire_review_leases(); end if;

  for asked in select jsonb_array_elements(requests) loop
    select * into known from review_runs r where r.request_id = (asked ->> 'requestId')::uuid;
    if known.id is not null then
      -- An answer that was lost: the same lease again while it lasts, and never a second job.
      if known.outcome = 'running' and known.runner_id = (asked ->> 'runnerId')::uuid then
        return query select f.request_id, f.lease from review_lease_facts(array[known.id]) f;
      end if;
      continue;
    end if;
    -- A poll waits for up to 25 s: meanwhile its runner may have been paused or removed. One that is being changed is passed over: nobody
    -- else waits for it, and it gets no lease that its removal would not see.
    perform from runners w where w.id = (asked ->> 'runnerId')::uuid and not w.paused and w.removed_at is null for key share skip locked;
    continue when not found;
    wish := jsonb_build_array(asked -> 'kinds', asked -> 'workspaceId');
    place := array_position(wishes, wish);
    if place is null then
      wishes := wishes || wish;
      groups := groups || jsonb_build_array(jsonb_build_array(asked));
    else
      groups := jsonb_set(groups, array[(place - 1)::text], groups -> (place - 1) || asked);
    end if;
  end loop;

  for alike in 0 .. cardinality(wishes) - 1 loop
    wish := wishes[alike + 1];
    leases := lease_review_jobs(
      array(select distinct kind from jsonb_array_elements_text(wish -> 0) kind order by kind), (wish ->> 1)::uuid,
      array(select jsonb_array_elements(groups -> alike)), lease_ms);
    for nth in 1 .. cardinality(leases) loop
      request_id := (groups #>> array[alike::text, (nth - 1)::text, 'requestId'])::uuid;
      lease := leases[nth];
      return next;
    end loop;
  end loop;
end $$;
