-- What GitHub knows and Galley may have missed: deliveries that never arrived, heads that no event announced, and the state of
-- installations and repositories. And what stays of usage when old runs are removed.

alter table installations
  add column permissions jsonb not null default '{}' check (jsonb_typeof(permissions) = 'object'),
  -- GitHub's `updated_at` of the newest event: events come in any order, and late ones must not undo newer ones.
  add column changed_at timestamptz;

alter table projects
  -- Until an event says otherwise, nobody outside is assumed to see a repository.
  add column private boolean not null default true,
  -- Older pull requests that were never reviewed are not taken up by the reconciler. Null: no such limit.
  add column activated_at timestamptz;
update projects set activated_at = now() where settings -> 'active' = 'true';

alter table pull_requests
  -- GitHub's `updated_at` and the head when the reconciler read the pull request and queued it: an event of that moment and head tells
  -- nothing new.
  add column reconciled_at timestamptz,
  add column reconciled_sha text;

-- Deliveries that GitHub lists and `webhook_deliveries` lacked when they were listed. No foreign keys, as there.
create table missed_deliveries (
  host_id uuid not null,
  delivery_id text not null,
  -- GitHub's id of the newest attempt (digits; it may not fit a JavaScript number): what is asked to be sent again.
  attempt_id text not null,
  event text not null,
  delivered_at timestamptz not null,
  -- Some attempt was answered with 2xx: it is not lost, whoever took it.
  succeeded boolean not null,
  requests integer not null default 0,
  requested_at timestamptz,
  primary key (host_id, delivery_id)
);

-- How far GitHub's list of deliveries was read. A pass goes from the newest delivery back to where the last complete pass began.
create table delivery_scans (
  host_id uuid primary key,
  -- Where the pass under way goes on; null when none is.
  cursor text,
  pass_started_at timestamptz,
  page_read_at timestamptz,
  -- Start of the last complete pass.
  scanned_until timestamptz
);

-- How far the open pull requests of a project were compared with its jobs.
create table project_scans (
  project_id uuid primary key references projects on delete cascade,
  -- Page that the pass under way reads next; 1 when none is.
  page integer not null default 1,
  -- When the last pass over all pages ended, or was given up.
  ended_at timestamptz
);

-- The logical model a run was leased with; null for runs of earlier versions.
alter table review_runs add column model text;

-- Usage of all runs that started on a day (UTC). Outlives the runs.
create table usage_days (
  workspace_id uuid not null references workspaces on delete cascade,
  day date not null,
  review_kind text not null check (review_kind in ('diff', 'dynamic')),
  -- Empty for runs whose model is not known.
  model text not null,
  runs integer not null,
  failed_runs integer not null,
  model_calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- Of the runs with a known price; `unpriced_runs` used the model without one.
  cost_usd double precision not null,
  unpriced_runs integer not null,
  primary key (workspace_id, day, review_kind, model)
);
