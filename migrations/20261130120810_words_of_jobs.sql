-- As `20261130120805_words_of_deliveries.sql` says.
create domain review_job_state as text;
create domain review_cause as text;
create domain review_kind as text;

-- What a job has in each state, for the same reason in a function.
create function review_job_is_whole(state text, lease_token_hash bytea, lease_expires_at timestamptz, finished_at timestamptz)
returns boolean language plpgsql immutable as $$
begin
  return (state = 'running') = (lease_token_hash is not null) and (state = 'running') = (lease_expires_at is not null)
    and (state in ('waiting', 'running', 'publishing')) = (finished_at is null);
end $$;

alter table review_jobs
  drop constraint review_jobs_check,
  drop constraint review_jobs_check1,
  drop constraint review_jobs_check2,
  add constraint review_jobs_whole check (review_job_is_whole(state, lease_token_hash, lease_expires_at, finished_at)) not valid,
  drop constraint review_jobs_state_check,
  drop constraint review_jobs_cause_check,
  drop constraint review_jobs_review_kind_check,
  alter column state type review_job_state,
  alter column cause type review_cause,
  alter column review_kind type review_kind;
alter domain review_job_state add check (
  value in ('waiting', 'running', 'publishing', 'succeeded', 'failed', 'cancelled', 'superseded', 'skipped')) not valid;
alter domain review_cause add check (value in ('event', 'command', 'manual', 'reconciler')) not valid;

-- Word for word as before: it holds a job in a variable, and sessions that used it would go on with the types of then.
create or replace function settle_review_attempt(
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
