-- Few jobs are busy at a time, so that the planner, whose statistics mostly say "none", takes any index of busy jobs for as good as the one for
-- its search, and then reads all of them: measured at 85 ms for the completion of 32 jobs while 3,000 waited for their publication. So the
-- conditions of these indexes do not follow from `state = 'running'`, and each is used by who names its very condition.

-- The running jobs of a workspace.
drop index review_jobs_running;
create index review_jobs_running on review_jobs (workspace_id) where lease_token_hash is not null;

-- The busy job of a pull request.
drop index review_jobs_one_busy;
create unique index review_jobs_one_busy on review_jobs (pull_request_id) where (state in ('running', 'publishing')) is true;

-- Which jobs ended long ago, and which gave up lately; instead of an index that every change of every job had to keep.
drop index review_jobs_of_workspace;
create index review_jobs_finished on review_jobs (finished_at) where finished_at is not null;
