-- The parts of the queue that must be one round trip. Whoever changes the jobs of a pull request locks project, then pull request,
-- then job, in this order, or skips what is locked.

-- What leases tell their runners, apart from the tokens.
create function review_lease_facts(leases uuid[]) returns table (id uuid, request_id uuid, lease jsonb) language plpgsql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  select r.id, r.request_id, jsonb_build_object(
    'leaseId', r.id, 'fence', r.fence, 'attempt', r.attempt, 'workspaceId', r.workspace_id, 'runnerId', r.runner_id,
    'jobId', r.job_id, 'kind', r.review_kind, 'headSha', r.head_sha, 'baseSha', r.base_sha,
    'project', jsonb_build_object(
      'id', p.id, 'owner', p.owner, 'name', p.name, 'gitUrl', p.git_url, 'settings', p.settings,
      'githubRepositoryId', p.github_repository_id),
    'installation', jsonb_build_object('hostId', p.host_id, 'githubInstallationId', i.github_installation_id),
    'pullRequest', jsonb_build_object(
      'id', q.id, 'number', q.number, 'title', q.title, 'description', q.description, 'author', q.author,
      'baseRef', q.base_ref, 'headRef', q.head_ref, 'webUrl', q.web_url),
    'lastReviewedSha', q.last_reviewed_sha, 'commentId', q.comment_id,
    'publishedState', q.published_state, 'publishedDigest', encode(q.published_digest, 'hex'),
    'earlierUsage', case when r.attempt = 1 then '[]' else coalesce(
      (select jsonb_agg(e.usage) from review_runs e where e.job_id = r.job_id and e.id <> r.id and e.usage <> '{}'), '[]') end)
  from unnest(leases) wanted (id)
  join review_runs r on r.id = wanted.id
  join pull_requests q on q.id = r.pull_request_id
  join projects p on p.id = r.project_id
  join installations i on i.id = p.installation_id;
end $$;

-- Decides what becomes of a running job whose attempt ended without a result, and writes it to job and run.
-- The caller holds the locks of project and pull request. `retry_after` null = another attempt would end the same way.
create function settle_review_attempt(
  settled uuid, run_outcome text, run_code text, run_detail text, counted boolean, retry_after interval
) returns text language plpgsql as $$
declare
  job review_jobs;
  project projects;
  installation installations;
  pull_request_open boolean;
  next_state text := 'waiting';
  next_code text;
  next_detail text := run_detail;
  failed_attempts integer;
begin
  select * into strict job from review_jobs where id = settled for update;
  select * into strict project from projects where id = job.project_id;
  select * into strict installation from installations where id = project.installation_id;
  select open into strict pull_request_open from pull_requests where id = job.pull_request_id;
  failed_attempts := job.failures + counted::integer;

  if job.cancel_code is not null then
    next_state := 'cancelled'; next_code := job.cancel_code;
  elsif retry_after is null then
    next_state := 'failed'; next_code := run_code;
  elsif not pull_request_open then
    next_state := 'cancelled'; next_code := 'pull_request_closed';
  elsif installation.removed_at is not null then
    next_state := 'cancelled'; next_code := 'installation_gone';
  elsif installation.suspended_at is not null then
    next_state := 'cancelled'; next_code := 'installation_suspended';
  elsif project.removed_at is not null then
    next_state := 'cancelled'; next_code := 'repository_gone';
  elsif not coalesce((project.settings ->> 'active')::boolean, false) then
    next_state := 'cancelled'; next_code := 'project_inactive';
  elsif exists (select from review_jobs w where w.pull_request_id = job.pull_request_id and w.state = 'waiting') then
    next_state := 'superseded'; next_code := 'head_superseded';
  elsif failed_attempts >= 3 then
    next_state := 'failed'; next_code := 'attempts_exhausted'; next_detail := concat_ws(': ', run_code, run_detail);
  elsif job.review_kind <> coalesce(project.settings ->> 'reviewKind', 'diff') then
    next_state := 'cancelled'; next_code := 'review_kind_changed';
  end if;

  update review_jobs set
    state = next_state, code = next_code, detail = next_detail, failures = failed_attempts,
    lease_token_hash = null, lease_expires_at = null,
    run_after = clock_timestamp() + coalesce(retry_after, interval '0'),
    first_queued_at = clock_timestamp(),
    finished_at = case when next_state = 'waiting' then null else clock_timestamp() end
  where id = job.id;
  update review_runs set
    outcome = case when next_state in ('cancelled', 'superseded') then next_state else run_outcome end,
    code = coalesce(run_code, next_code), detail = run_detail, ended_at = clock_timestamp()
  where id = job.run_id;
  return next_state;
end $$;

-- 15 s after the first failure, 60 s after the second.
create function review_retry_delay(failures integer) returns interval language sql immutable as $$
  select interval '15 seconds' * power(4, failures)
$$;

-- Settles jobs whose lease ran out. Rows in use by another transaction are left for the next call.
create function expire_review_leases() returns table (job_id uuid, run_id uuid, workspace_id uuid, state text)
language plpgsql as $$
declare
  expired record;
begin
  for expired in
    select j.id, j.run_id, j.workspace_id, j.failures
    from review_jobs j
    join projects p on p.id = j.project_id
    join pull_requests q on q.id = j.pull_request_id
    where j.state = 'running' and j.lease_expires_at <= clock_timestamp()
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

-- Chooses up to `wanted` jobs of the given kinds and locks them with their pull requests. Workspaces take turns, the one that waited
-- longest first, each up to its cap; within a workspace priority and age decide. `only_workspace` null = any. The caller holds the claim lock.
create function choose_review_jobs(kinds text[], only_workspace uuid, wanted integer)
returns table (place bigint, job_id uuid, workspace_id uuid, pull_request_id uuid) language plpgsql
-- The tables are large and the answer is small, also while statistics say otherwise; planning anew costs more than choosing.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  -- Jobs that another transaction holds; they are passed over.
  held uuid[] := '{}';
  chosen uuid[];
  free uuid[];
  -- A value, so that the index ends the search where jobs are not due.
  due timestamptz := clock_timestamp();
begin
  loop
    with recursive waiting (workspace_id) as (
      -- Workspaces with waiting jobs, found by jumping through the index instead of reading every workspace or every job.
      (select j.workspace_id from review_jobs j where j.state = 'waiting' order by j.workspace_id limit 1)
      union all
      select (
        select j.workspace_id from review_jobs j
        where j.state = 'waiting' and j.workspace_id > w.workspace_id order by j.workspace_id limit 1)
      from waiting w where w.workspace_id is not null
    ), rooms as materialized (
      select w.id, w.last_claimed_at,
        least(wanted, w.max_running_jobs - (select count(*) from review_jobs r where r.workspace_id = w.id and r.state = 'running')) as room
      from waiting join workspaces w on w.id = waiting.workspace_id
      where only_workspace is null or w.id = only_workspace
    ), candidates as (
      select k.id, w.id as workspace_id, w.last_claimed_at,
        row_number() over (partition by w.id order by k.priority desc, k.run_after, k.id) as turn
      from rooms w
      cross join unnest(kinds) kind
      cross join lateral (
        select j.id, j.priority, j.run_after from review_jobs j
        where j.state = 'waiting' and j.review_kind = kind and j.workspace_id = w.id and j.run_after <= due
          and j.id <> all (held)
          -- Not as an anti-join: that reads all busy jobs.
          and (
            select b.id from review_jobs b where b.pull_request_id = j.pull_request_id and b.state in ('running', 'publishing')) is null
        order by j.priority desc, j.run_after
        limit greatest(w.room, 0)
      ) k
    )
    select array_agg(id order by turn, last_claimed_at, workspace_id) into chosen
    from (
      select c.* from candidates c join rooms w on w.id = c.workspace_id where c.turn <= w.room
      order by c.turn, c.last_claimed_at, c.workspace_id limit wanted
    ) best;

    select array_agg(id) into free
    from (
      select j.id from unnest(chosen) c (id) join review_jobs j on j.id = c.id join pull_requests q on q.id = j.pull_request_id
      where j.state = 'waiting'
      for update of j, q skip locked
    ) locked;
    exit when chosen is null or cardinality(chosen) = coalesce(cardinality(free), 0);
    held := held || array(select c.id from unnest(chosen) c (id) where c.id <> all (coalesce(free, '{}')));
  end loop;

  return query
  select c.place, j.id, j.workspace_id, j.pull_request_id from unnest(chosen) with ordinality c (id, place) join review_jobs j on j.id = c.id;
end $$;

-- Serves many runners at once: `requests` is an array of {requestId, runId, runnerId, workspaceId, kinds, tokenHash}, in the order
-- in which the runners came. A claim is one transaction under one lock: only so are the caps of workspaces exact. Requests that ask for
-- the same are answered together, with one statement for each thing to write.
create function claim_review_jobs(requests jsonb, lease_ms integer) returns table (request_id uuid, lease jsonb)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  alike record;
  started uuid[];
  repeated uuid[];
begin
  perform pg_advisory_xact_lock(724001);
  perform expire_review_leases();

  -- An answer that was lost: the same lease again while it lasts, and never a second job.
  select array_agg(r.id) filter (where r.outcome = 'running' and requests @> jsonb_build_array(
      jsonb_build_object('requestId', r.request_id, 'runnerId', r.runner_id))), array_agg(r.request_id)
  into started, repeated
  from review_runs r
  where r.request_id = any (array(select (asked ->> 'requestId')::uuid from jsonb_array_elements(requests) asked));
  if started is not null then
    return query select f.request_id, f.lease from review_lease_facts(started) f;
  end if;

  for alike in
    select asked -> 'kinds' as kinds, (asked ->> 'workspaceId')::uuid as workspace_id, jsonb_agg(asked order by n) as requests,
      count(*)::integer as runners
    from jsonb_array_elements(requests) with ordinality a (asked, n)
    where repeated is null or (asked ->> 'requestId')::uuid <> all (repeated)
    group by 1, 2
    order by min(n)
  loop
    with chosen as materialized (
      select * from choose_review_jobs(array(select jsonb_array_elements_text(alike.kinds)), alike.workspace_id, alike.runners)
    ), fenced as (
      update pull_requests q set fence = q.fence + 1 from chosen c where q.id = c.pull_request_id returning q.id, q.fence
    ), turned as (
      -- Their order among themselves is kept for the next turn.
      update workspaces w set last_claimed_at = clock_timestamp() + c.place * interval '1 microsecond'
      from (select workspace_id, max(place) as place from chosen group by workspace_id) c where w.id = c.workspace_id
    ), leased as (
      update review_jobs j set
        state = 'running', attempt = j.attempt + 1, fence = f.fence, run_id = (asked ->> 'runId')::uuid,
        lease_token_hash = decode(asked ->> 'tokenHash', 'hex'),
        lease_expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
      from chosen c
      join fenced f on f.id = c.pull_request_id
      join jsonb_array_elements(alike.requests) with ordinality a (asked, n) on a.n = c.place
      where j.id = c.job_id
      returning j.*, asked
    ), runs as (
      insert into review_runs (
        id, workspace_id, project_id, pull_request_id, job_id, runner_id, request_id, attempt, fence, review_kind, head_sha, base_sha)
      select
        run_id, workspace_id, project_id, pull_request_id, id, (asked ->> 'runnerId')::uuid, (asked ->> 'requestId')::uuid, attempt, fence,
        review_kind, head_sha, base_sha
      from leased
      returning id
    )
    select array_agg(id) into started from runs;
    return query select f.request_id, f.lease from review_lease_facts(started) f;
  end loop;
end $$;

-- Ends leases with what their runners handed over, with one commit. An item of `results` is {leaseId, runnerId, tokenHash, fence, outcome, code,
-- usage, digest, state, findings, coverage, trace, comment}; no lease comes twice. The answer says for each lease `stored`, `repeated` (the
-- same result was stored before), `result_conflict` (another one was) or `lease_lost`, and of a stored one the state of its job: a job that a
-- person stopped is `cancelled`, also when its result came before its runner heard of that.
create function complete_reviews(results jsonb)
returns table (lease_id uuid, answer text, job_id uuid, workspace_id uuid, job_state text) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  ended jsonb;
begin
  with done as (
    update review_jobs j set
      state = case when j.cancel_code is not null then 'cancelled' when item ->> 'outcome' = 'reviewed' then 'publishing' else 'skipped' end,
      code = coalesce(j.cancel_code, item ->> 'code'),
      finished_at = case when j.cancel_code is null and item ->> 'outcome' = 'reviewed' then null else clock_timestamp() end,
      lease_token_hash = null, lease_expires_at = null
    from jsonb_array_elements(results) item
    join review_runs r on r.id = (item ->> 'leaseId')::uuid and r.runner_id = (item ->> 'runnerId')::uuid
    where j.id = r.job_id and j.run_id = r.id and j.state = 'running' and j.fence = (item ->> 'fence')::bigint
      and j.lease_token_hash = decode(item ->> 'tokenHash', 'hex') and j.lease_expires_at > clock_timestamp()
    returning j.id, j.workspace_id, j.run_id, j.state, j.code
  )
  select coalesce(jsonb_object_agg(run_id, jsonb_build_object('job', id, 'workspace', workspace_id, 'state', state, 'code', code)), '{}')
  into ended from done;

  insert into review_results (run_id, digest, state, findings, coverage, trace, comment)
  select (item ->> 'leaseId')::uuid, decode(item ->> 'digest', 'hex'), nullif(item -> 'state', 'null'), item -> 'findings',
    item -> 'coverage', item -> 'trace', item ->> 'comment'
  from jsonb_array_elements(results) item where ended ? (item ->> 'leaseId');

  update review_runs r set
    outcome = case when ended #>> array[item ->> 'leaseId', 'state'] = 'cancelled' then 'cancelled' else item ->> 'outcome' end,
    code = ended #>> array[item ->> 'leaseId', 'code'], phase = 'handing_over', usage = item -> 'usage', ended_at = clock_timestamp()
  from jsonb_array_elements(results) item
  where ended ? (item ->> 'leaseId') and r.id = (item ->> 'leaseId')::uuid;

  return query
  select (item ->> 'leaseId')::uuid,
    case
      when ended ? (item ->> 'leaseId') then 'stored'
      when s.digest is null then 'lease_lost'
      when s.digest <> decode(item ->> 'digest', 'hex') then 'result_conflict'
      else 'repeated'
    end,
    (ended #>> array[item ->> 'leaseId', 'job'])::uuid, (ended #>> array[item ->> 'leaseId', 'workspace'])::uuid,
    ended #>> array[item ->> 'leaseId', 'state']
  from jsonb_array_elements(results) item
  left join review_runs r on r.id = (item ->> 'leaseId')::uuid and r.runner_id = (item ->> 'runnerId')::uuid
  left join review_results s on s.run_id = r.id;
end $$;
