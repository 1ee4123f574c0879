-- As `20261130120800_words_of_deliveries.sql` says.
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
