-- As `20261130120805_words_of_deliveries.sql` says.
create domain review_outcome as text;
alter table review_runs
  drop constraint review_runs_outcome_check,
  drop constraint review_runs_review_kind_check,
  alter column outcome type review_outcome,
  alter column review_kind type review_kind;
alter domain review_outcome add check (
  value in ('running', 'reviewed', 'skipped', 'failed', 'lost', 'released', 'cancelled', 'superseded')) not valid;
-- Only now, for the jobs' column, too.
alter domain review_kind add check (value in ('diff', 'dynamic')) not valid;
