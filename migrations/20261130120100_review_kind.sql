-- A job names its kind of review. All work so far was Diff Review, which the default writes into existing rows.
-- The default stays while a server that does not know kinds may still insert.
alter table review_jobs add column review_kind text not null default 'diff' check (review_kind in ('diff', 'dynamic'));
alter table review_runs add column review_kind text not null default 'diff' check (review_kind in ('diff', 'dynamic'));

-- One head may now be wanted twice: running under the old kind while it waits under the new one.
-- What stays unique, across kinds, is one waiting and one busy job per pull request.
drop index review_jobs_one_per_head;

-- The claim looks for each kind apart. A second index that orders waiting jobs without the kind would tempt the planner to walk
-- all of them for a kind with nothing waiting.
drop index review_jobs_claimable;
create index review_jobs_claimable on review_jobs (workspace_id, review_kind, priority desc, run_after) where state = 'waiting';
