-- Everything Galley stores, with a queue that knows one kind of review.
-- Ids are made in the application. Times are the database's. Secrets are sealed (AES-256-GCM) with the id of their key beside them.

create table workspaces (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (name <> ''),
  max_running_jobs integer not null default 4 check (max_running_jobs between 0 and 1000),
  -- Fair rotation: the workspace that waited longest for a lease comes first.
  last_claimed_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now()
);

create table github_hosts (
  id uuid primary key,
  name text not null unique,
  web_url text not null,
  api_url text not null,
  app_id bigint not null,
  app_slug text not null,
  client_id text,
  sealed_client_secret bytea,
  client_secret_key_id text,
  sealed_private_key bytea not null,
  private_key_key_id text not null,
  -- Up to two live webhook secrets, [{"keyId": ..., "sealed": base64}], so that one can be rotated without a gap.
  webhook_secrets jsonb not null check (jsonb_array_length(webhook_secrets) between 1 and 2),
  created_at timestamptz not null default now()
);

create table users (
  id uuid primary key,
  host_id uuid not null references github_hosts,
  github_user_id bigint not null,
  login text not null,
  name text not null default '',
  avatar_url text,
  created_at timestamptz not null default now(),
  unique (host_id, github_user_id)
);

create table memberships (
  workspace_id uuid not null references workspaces on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id)
);
create index memberships_of_user on memberships (user_id);

-- A signed-in browser. Only the hash of its random id is kept.
create table sessions (
  id_hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_expiry on sessions (expires_at);

create table installations (
  id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  host_id uuid not null references github_hosts,
  github_installation_id bigint not null,
  account_login text not null,
  suspended_at timestamptz,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  unique (host_id, github_installation_id)
);

create table projects (
  id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  installation_id uuid not null references installations on delete cascade,
  host_id uuid not null references github_hosts,
  github_repository_id bigint not null,
  owner text not null,
  name text not null,
  web_url text not null,
  git_url text not null,
  settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
  settings_version integer not null default 1,
  removed_at timestamptz,
  created_at timestamptz not null default now(),
  unique (host_id, github_repository_id),
  unique (id, workspace_id)
);
create index projects_of_workspace on projects (workspace_id);

create table model_providers (
  id uuid primary key,
  workspace_id uuid not null references workspaces on delete cascade,
  name text not null check (name <> ''),
  base_url text not null,
  sealed_api_key bytea not null,
  api_key_key_id text not null,
  -- Logical model -> what the provider calls it, with its limits and price.
  models jsonb not null check (jsonb_typeof(models) = 'array'),
  -- The logical model of a review that names none.
  default_model text not null,
  feature_check jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (workspace_id, name)
);

create table pull_requests (
  id uuid primary key,
  workspace_id uuid not null,
  project_id uuid not null,
  number integer not null check (number > 0),
  title text not null,
  description text not null,
  author text not null,
  base_ref text not null,
  base_sha text not null,
  head_ref text not null,
  head_sha text not null,
  web_url text not null,
  draft boolean not null,
  open boolean not null,
  -- GitHub's own `updated_at`: decides which of two deliveries is newer.
  updated_at timestamptz not null,
  fence bigint not null default 0,
  comment_id bigint,
  last_reviewed_sha text,
  published_fence bigint not null default 0,
  published_state jsonb,
  published_digest bytea,
  created_at timestamptz not null default now(),
  unique (project_id, number),
  unique (id, project_id, workspace_id),
  foreign key (project_id, workspace_id) references projects (id, workspace_id) on delete cascade,
  check (published_fence <= fence)
) with (fillfactor = 70);

create table runners (
  id uuid primary key,
  -- null = works for every workspace
  workspace_id uuid references workspaces on delete cascade,
  name text not null check (name <> ''),
  token_hash bytea not null unique,
  -- What the process says of itself; several may share one token.
  reported_name text,
  version text,
  capabilities jsonb not null default '[]',
  paused boolean not null default false,
  last_seen_at timestamptz,
  created_at timestamptz not null default now(),
  unique nulls not distinct (workspace_id, name)
);

create table review_jobs (
  id uuid primary key,
  workspace_id uuid not null,
  project_id uuid not null,
  pull_request_id uuid not null,
  state text not null
    check (state in ('waiting', 'running', 'publishing', 'succeeded', 'failed', 'cancelled', 'superseded', 'skipped')),
  cause text not null check (cause in ('event', 'command', 'manual', 'reconciler')),
  requested_by text,
  head_sha text not null,
  base_sha text not null,
  -- The pull request's `updated_at` the head was taken from.
  head_updated_at timestamptz not null,
  priority smallint not null default 0,
  run_after timestamptz not null,
  -- Start of this wait: pushes may delay the job until 300 s after it.
  first_queued_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  attempt integer not null default 0,
  failures integer not null default 0,
  -- Set when a running job should stop; its runner learns it with the next heartbeat.
  cancel_code text,
  code text,
  detail text,
  fence bigint,
  run_id uuid,
  lease_token_hash bytea,
  lease_expires_at timestamptz,
  finished_at timestamptz,
  -- One key for the three: a job can never belong to another tenant than its pull request.
  foreign key (pull_request_id, project_id, workspace_id)
    references pull_requests (id, project_id, workspace_id) on delete cascade,
  check ((state = 'running') = (lease_token_hash is not null)),
  check ((state = 'running') = (lease_expires_at is not null)),
  check ((state in ('waiting', 'running', 'publishing')) = (finished_at is null))
) with (fillfactor = 70);
create unique index review_jobs_one_waiting on review_jobs (pull_request_id) where state = 'waiting';
create unique index review_jobs_one_busy on review_jobs (pull_request_id) where state in ('running', 'publishing');
create unique index review_jobs_one_per_head on review_jobs (pull_request_id, head_sha)
  where state in ('waiting', 'running', 'publishing');
create index review_jobs_claimable on review_jobs (workspace_id, priority desc, run_after) where state = 'waiting';
create index review_jobs_running on review_jobs (workspace_id) where state = 'running';
create index review_jobs_lease_expiry on review_jobs (lease_expires_at) where state = 'running';
create index review_jobs_of_pull_request on review_jobs (pull_request_id, created_at desc);
create index review_jobs_of_workspace on review_jobs (workspace_id, created_at desc);

-- One attempt at a job. The id is also the id of the lease.
create table review_runs (
  id uuid primary key,
  workspace_id uuid not null,
  project_id uuid not null,
  pull_request_id uuid not null,
  job_id uuid not null references review_jobs on delete cascade,
  runner_id uuid references runners on delete set null,
  -- The runner's own id for its request: the same request again gets the same lease again.
  request_id uuid not null unique,
  attempt integer not null,
  fence bigint not null,
  head_sha text not null,
  base_sha text not null,
  outcome text not null default 'running'
    check (outcome in ('running', 'reviewed', 'skipped', 'failed', 'lost', 'released', 'cancelled', 'superseded')),
  code text,
  detail text,
  phase text,
  progress text,
  usage jsonb not null default '{}',
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz,
  ended_at timestamptz,
  published_at timestamptz,
  check ((outcome = 'running') = (ended_at is null))
) with (fillfactor = 70);
create index review_runs_of_job on review_runs (job_id);
create index review_runs_of_workspace on review_runs (workspace_id, started_at desc);
create index review_runs_of_project on review_runs (project_id, started_at desc);

-- What a run handed over, kept from before its publication on: the model is never paid twice for it.
create table review_results (
  run_id uuid primary key references review_runs on delete cascade,
  digest bytea not null,
  state jsonb,
  findings jsonb not null,
  coverage jsonb not null,
  trace jsonb not null,
  comment text,
  stored_at timestamptz not null default now()
);

-- The log that answers "why no review?". No foreign keys: each would lock a row that all deliveries of a moment share.
create table webhook_deliveries (
  host_id uuid not null,
  delivery_id text not null,
  event text not null,
  action text,
  workspace_id uuid,
  project_id uuid,
  pull_request_number integer,
  github_installation_id bigint,
  github_repository_id bigint,
  outcome text not null default 'received' check (outcome in ('received', 'queued', 'cancelled', 'accepted', 'ignored')),
  reason text,
  job_id uuid,
  received_at timestamptz not null default now(),
  primary key (host_id, delivery_id)
) with (fillfactor = 70);
create index webhook_deliveries_of_pull_request on webhook_deliveries (project_id, pull_request_number, received_at desc)
  where project_id is not null;
create index webhook_deliveries_received on webhook_deliveries using brin (received_at);

create table audit_log (
  id uuid primary key,
  workspace_id uuid,
  actor text not null,
  action text not null,
  subject text not null,
  details jsonb not null default '{}',
  at timestamptz not null default now()
);
create index audit_log_of_workspace on audit_log (workspace_id, at desc);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log can only grow';
end $$;
create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function refuse_audit_change();
