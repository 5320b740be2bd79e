-- The latest verification of the ledger, for its metrics and for the next one. One row, `ledger`.
create table ledger_checks (
  id text collate "C" primary key,
  -- When the next one starts; while one runs, the time at which it is given up.
  due_at timestamptz not null,
  checked_at timestamptz,
  balanced boolean,
  -- How long it took, in milliseconds.
  ms integer
);
