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
  job review_jobs;
  known bytea;
begin
  -- In one order everywhere, so that no two calls with the same leases wait for each other.
  for item in select one from jsonb_array_elements(results) one order by one ->> 'leaseId' loop
    lease_id := (item ->> 'leaseId')::uuid;
    -- By its key alone: with its state, too, the planner would look through all running jobs.
    select j.* into job from review_jobs j
    where j.id = (select r.job_id from review_runs r where r.id = lease_id and r.runner_id = (item ->> 'runnerId')::uuid)
    for update;
    if job.run_id = lease_id and job.state = 'running' and job.fence = (item ->> 'fence')::bigint
      and job.lease_token_hash = decode(item ->> 'tokenHash', 'hex') and job.lease_expires_at > clock_timestamp() then
      answer := 'stored';
      job_id := job.id;
      workspace_id := job.workspace_id;
      job_state := case
        when job.cancel_code is not null then 'cancelled' when item ->> 'outcome' = 'reviewed' then 'publishing' else 'skipped' end;
      job.code := coalesce(job.cancel_code, item ->> 'code');
      update review_jobs j set
        state = job_state, code = job.code, finished_at = case when job_state <> 'publishing' then clock_timestamp() end,
        lease_token_hash = null, lease_expires_at = null
      where j.id = job_id;
      insert into review_results (run_id, digest, state, findings, coverage, trace, comment) values (
        lease_id, decode(item ->> 'digest', 'hex'), nullif(item -> 'state', 'null'), item -> 'findings', item -> 'coverage',
        item -> 'trace', item ->> 'comment');
      update review_runs r set
        outcome = case when job_state = 'cancelled' then 'cancelled' else item ->> 'outcome' end,
        code = job.code, phase = 'handing_over', usage = item -> 'usage', ended_at = clock_timestamp()
      where r.id = lease_id;
    else
      job_id := null;
      workspace_id := null;
      job_state := null;
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
