-- Intake in one round trip and one commit: each statement more costs a delivery more than all the work in the database.
-- Locks are taken in the order project, pull request, job.

-- Records what an event says of a pull request, unless something newer is known (deliveries come in any order), and locks its row
-- until commit. `said` names columns of the table.
create function upsert_pull_request(
  said jsonb, out id uuid, out head_sha text, out base_sha text, out draft boolean, out open boolean, out last_reviewed_sha text,
  out is_newest boolean
) language plpgsql as $$
#variable_conflict use_column
declare
  fresh pull_requests := jsonb_populate_record(null::pull_requests, said);
begin
  insert into pull_requests as known (
    id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft, open,
    updated_at)
  values (
    fresh.id, fresh.workspace_id, fresh.project_id, fresh.number, fresh.title, fresh.description, fresh.author, fresh.base_ref,
    fresh.base_sha, fresh.head_ref, fresh.head_sha, fresh.web_url, fresh.draft, fresh.open, fresh.updated_at)
  on conflict (project_id, number) do update set
    title = excluded.title, description = excluded.description, author = excluded.author, base_ref = excluded.base_ref,
    base_sha = excluded.base_sha, head_ref = excluded.head_ref, head_sha = excluded.head_sha, web_url = excluded.web_url,
    draft = excluded.draft, open = excluded.open, updated_at = excluded.updated_at
  where known.updated_at <= excluded.updated_at
  returning known.id, known.head_sha, known.base_sha, known.draft, known.open, known.last_reviewed_sha
  into id, head_sha, base_sha, draft, open, last_reviewed_sha;
  is_newest := found;
  if not found then
    select q.id, q.head_sha, q.base_sha, q.draft, q.open, q.last_reviewed_sha
    into strict id, head_sha, base_sha, draft, open, last_reviewed_sha
    from pull_requests q where q.project_id = fresh.project_id and q.number = fresh.number
    for update;
  end if;
end $$;

-- Queues a review, or moves the waiting job of the pull request to the newer head. The caller holds the lock of the pull request.
-- `asked` names columns of the table; the time the job is due is made here.
create function enqueue_review(
  asked jsonb, debounce_ms float8, out job_id uuid, out is_new boolean, out due timestamptz, out delay_ms float8
) language plpgsql as $$
declare
  wanted review_jobs := jsonb_populate_record(null::review_jobs, asked);
begin
  insert into review_jobs as job (
    id, workspace_id, project_id, pull_request_id, state, cause, requested_by, review_kind, head_sha, base_sha, head_updated_at,
    priority, run_after)
  values (
    wanted.id, wanted.workspace_id, wanted.project_id, wanted.pull_request_id, 'waiting', wanted.cause, wanted.requested_by,
    wanted.review_kind, wanted.head_sha, wanted.base_sha, wanted.head_updated_at, wanted.priority,
    now() + debounce_ms * interval '1 millisecond')
  on conflict (pull_request_id) where state = 'waiting' do update set
    (head_sha, base_sha, head_updated_at, review_kind, failures) = (
      select excluded.head_sha, excluded.base_sha, excluded.head_updated_at, excluded.review_kind,
        case when excluded.head_sha = job.head_sha then job.failures else 0 end
      where excluded.head_updated_at >= job.head_updated_at
      union all
      select job.head_sha, job.base_sha, job.head_updated_at, job.review_kind, job.failures
      where excluded.head_updated_at < job.head_updated_at),
    (cause, requested_by) = (
      select excluded.cause, excluded.requested_by where excluded.priority > job.priority
      union all
      select job.cause, job.requested_by where excluded.priority <= job.priority),
    priority = greatest(job.priority, excluded.priority),
    -- Pushes put a job off until 300 s after it was queued; an urgent request brings it forward, and no push delays it again.
    run_after = case
      when greatest(job.priority, excluded.priority) > 0 then least(job.run_after, excluded.run_after)
      when excluded.head_updated_at < job.head_updated_at then job.run_after
      else least(excluded.run_after, job.first_queued_at + interval '300 seconds') end
  returning job.id, xmax = 0, job.run_after, extract(epoch from job.run_after - clock_timestamp()) * 1000
  into job_id, is_new, due, delay_ms;
end $$;

-- Takes a delivery whose step was decided on what `seen` stands for (the versions of its installation and project). Nothing is done, and
-- no row comes back, when these changed since: decide again. `pull` is what the event says of its pull request, null when it names none
-- or the project is not ours.
create function take_delivery(said jsonb, seen text, step jsonb, pull jsonb)
returns table (outcome text, reason text, job_id uuid, delay_ms float8) language plpgsql as $$
declare
  delivery webhook_deliveries := jsonb_populate_record(null::webhook_deliveries, said);
  stored record;
begin
  -- From here to the commit nobody changes settings, suspends the installation or removes the repository. What is read must be read after.
  perform from projects p where p.host_id = delivery.host_id and p.github_repository_id = delivery.github_repository_id for share;
  perform from (values (null)) one
    left join installations i on i.host_id = delivery.host_id and i.github_installation_id = delivery.github_installation_id
    left join projects p on p.host_id = delivery.host_id and p.github_repository_id = delivery.github_repository_id
    where concat(i.xmin, ' ', p.xmin) = seen;
  if not found then
    return;
  end if;
  if exists (select from webhook_deliveries d where d.host_id = delivery.host_id and d.delivery_id = delivery.delivery_id) then
    outcome := 'duplicate';
    return next;
    return;
  end if;

  outcome := 'ignored';
  reason := step ->> 'reason';
  if pull is not null then
    stored := upsert_pull_request(pull);
    if step ->> 'action' in ('cancel', 'enqueue') and not stored.is_newest then
      -- One that was overtaken says nothing that is not known better.
      reason := 'overtaken';
    elsif step ->> 'action' = 'cancel' then
      update review_jobs set state = 'cancelled', code = step ->> 'reason', finished_at = clock_timestamp()
      where pull_request_id = stored.id and state = 'waiting';
      if found then
        outcome := 'cancelled';
      end if;
    elsif step ->> 'action' = 'enqueue' then
      outcome := 'queued';
      select e.job_id, e.delay_ms into take_delivery.job_id, take_delivery.delay_ms
      from enqueue_review(step -> 'job' || jsonb_build_object('pull_request_id', stored.id), (step ->> 'debounceMs')::float8) e;
    end if;
  end if;
  -- Last, with its verdict, so that the row is written once. A twin that came meanwhile fails here, and all of this with it.
  insert into webhook_deliveries (
    host_id, delivery_id, event, action, workspace_id, project_id, pull_request_number, github_installation_id, github_repository_id,
    outcome, reason, job_id)
  values (
    delivery.host_id, delivery.delivery_id, delivery.event, delivery.action, delivery.workspace_id, delivery.project_id,
    delivery.pull_request_number, delivery.github_installation_id, delivery.github_repository_id,
    take_delivery.outcome, take_delivery.reason, take_delivery.job_id);
  return next;
end $$;
