-- Runner tokens that are rotated without a break, pauses that say why, and runners that were taken away.

alter table runners
  -- The token before the last rotation: it goes on working until this time.
  add column previous_token_hash bytea unique,
  add column previous_token_until timestamptz,
  -- When it was last polled with: who still has to be given the new one.
  add column previous_token_used_at timestamptz,
  -- Of a pause; meaningless while `paused` is false, which an earlier server version sets alone.
  add column paused_note text not null default '',
  add column paused_by text,
  add column paused_at timestamptz,
  -- Its row stays for its runs. Its token hash is replaced by noise, so that no server version lets it in.
  add column removed_at timestamptz,
  add constraint runners_previous_token check ((previous_token_hash is null) = (previous_token_until is null));
