-- The parts of the queue that must be one round trip. Whoever changes the jobs of a pull request locks project, then pull request,
-- then job, in this order, or skips what is locked.

-- What a lease tells a runner, apart from its token.
create function review_lease_facts(lease uuid) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'leaseId', r.id, 'fence', r.fence, 'attempt', r.attempt, 'workspaceId', r.workspace_id, 'runnerId', r.runner_id,
    'jobId', j.id, 'kind', j.review_kind, 'headSha', r.head_sha, 'baseSha', r.base_sha,
    'project', jsonb_build_object(
      'id', p.id, 'owner', p.owner, 'name', p.name, 'gitUrl', p.git_url, 'settings', p.settings,
      'githubRepositoryId', p.github_repository_id),
    'installation', jsonb_build_object('hostId', p.host_id, 'githubInstallationId', i.github_installation_id),
    'pullRequest', jsonb_build_object(
      'id', q.id, 'number', q.number, 'title', q.title, 'description', q.description, 'author', q.author,
      'baseRef', q.base_ref, 'headRef', q.head_ref, 'webUrl', q.web_url),
    'lastReviewedSha', q.last_reviewed_sha, 'commentId', q.comment_id,
    'publishedState', q.published_state, 'publishedDigest', encode(q.published_digest, 'hex'),
    'earlierUsage', coalesce(
      (select jsonb_agg(e.usage) from review_runs e where e.job_id = j.id and e.id <> r.id and e.usage <> '{}'), '[]'))
  from review_runs r
  join review_jobs j on j.id = r.job_id
  join pull_requests q on q.id = r.pull_request_id
  join projects p on p.id = r.project_id
  join installations i on i.id = p.installation_id
  where r.id = lease
$$;

-- Decides what becomes of a running job whose attempt ended without a result, and writes it to job and run.
-- The caller holds the locks of project and pull request. `retry_after` null = another attempt would end the same way.
create function settle_review_attempt(
  settled uuid, run_outcome text, run_code text, run_detail text, counted boolean, retry_after interval
) returns text language plpgsql as $$
declare
  job review_jobs;
  project projects;
  pull_request_open boolean;
  next_state text := 'waiting';
  next_code text;
  next_detail text := run_detail;
  failed_attempts integer;
begin
  select * into strict job from review_jobs where id = settled for update;
  select * into strict project from projects where id = job.project_id;
  select open into strict pull_request_open from pull_requests where id = job.pull_request_id;
  failed_attempts := job.failures + counted::integer;

  if job.cancel_code is not null then
    next_state := 'cancelled'; next_code := job.cancel_code;
  elsif retry_after is null then
    next_state := 'failed'; next_code := run_code;
  elsif not pull_request_open then
    next_state := 'cancelled'; next_code := 'pull_request_closed';
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

-- Serves many runners at once: `requests` is an array of {requestId, runId, runnerId, workspaceId, kinds, tokenHash}, in the order
-- in which the runners came. A claim is one transaction under one lock: only so are the caps of workspaces exact.
create function claim_review_jobs(requests jsonb, lease_ms integer) returns table (request_id uuid, lease jsonb)
language plpgsql
-- Planning the choice anew costs more than making it.
set plan_cache_mode = force_generic_plan as $$
declare
  request record;
  earlier record;
  picked record;
  next_fence bigint;
begin
  perform pg_advisory_xact_lock(724001);
  perform expire_review_leases();

  for request in
    select * from jsonb_to_recordset(requests) as r (
      "requestId" uuid, "runId" uuid, "runnerId" uuid, "workspaceId" uuid, kinds text[], "tokenHash" text)
  loop
    request_id := request."requestId";

    -- An answer that was lost: the same lease again while it lasts, and never a second job.
    select r.id, r.runner_id, r.outcome into earlier from review_runs r where r.request_id = request."requestId";
    if found then
      if earlier.runner_id = request."runnerId" and earlier.outcome = 'running' then
        lease := review_lease_facts(earlier.id);
        return next;
      end if;
      continue;
    end if;

    select c.* into picked
    from (
      -- Workspaces with waiting jobs, found by jumping through the index instead of reading every workspace or every job.
      with recursive waiting (workspace_id) as (
        (select j.workspace_id from review_jobs j where j.state = 'waiting' order by j.workspace_id limit 1)
        union all
        select (
          select j.workspace_id from review_jobs j
          where j.state = 'waiting' and j.workspace_id > w.workspace_id order by j.workspace_id limit 1)
        from waiting w where w.workspace_id is not null
      )
      select w.id, w.last_claimed_at, w.max_running_jobs from waiting join workspaces w on w.id = waiting.workspace_id
      where request."workspaceId" is null or w.id = request."workspaceId"
      order by w.last_claimed_at, w.id
    ) w
    cross join lateral (
      select k.* from unnest(request.kinds) kinds (kind)
      cross join lateral (
        select j.id, j.workspace_id, j.project_id, j.pull_request_id, j.review_kind, j.head_sha, j.base_sha, j.attempt,
          j.priority, j.run_after
        from review_jobs j join pull_requests q on q.id = j.pull_request_id
        where j.state = 'waiting' and j.review_kind = kinds.kind and j.workspace_id = w.id and j.run_after <= clock_timestamp()
          and not exists (
            select from review_jobs b where b.pull_request_id = j.pull_request_id and b.state in ('running', 'publishing'))
        order by j.priority desc, j.run_after
        limit 1
        for update of j, q skip locked
      ) k
      where (select count(*) from review_jobs r where r.workspace_id = w.id and r.state = 'running') < w.max_running_jobs
      order by k.priority desc, k.run_after
      limit 1
    ) c
    order by w.last_claimed_at, w.id
    limit 1;
    if not found then
      continue;
    end if;

    update pull_requests set fence = fence + 1 where id = picked.pull_request_id returning fence into next_fence;
    update workspaces set last_claimed_at = clock_timestamp() where id = picked.workspace_id;
    update review_jobs set
      state = 'running', attempt = attempt + 1, fence = next_fence, run_id = request."runId",
      lease_token_hash = decode(request."tokenHash", 'hex'),
      lease_expires_at = clock_timestamp() + lease_ms * interval '1 millisecond'
    where id = picked.id;
    insert into review_runs (
      id, workspace_id, project_id, pull_request_id, job_id, runner_id, request_id, attempt, fence, review_kind, head_sha, base_sha)
    values (
      request."runId", picked.workspace_id, picked.project_id, picked.pull_request_id, picked.id, request."runnerId",
      request."requestId", picked.attempt + 1, next_fence, picked.review_kind, picked.head_sha, picked.base_sha);
    lease := review_lease_facts(request."runId");
    return next;
  end loop;
end $$;
