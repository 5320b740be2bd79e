-- The resource that a requested change is about, so that its screen shows the request. Requests of the same
-- change have the same key; only one of them can wait for a decision. Requests before this version have
-- neither.
alter table operator_approvals
  add column subject text collate "C",
  add column change_key text;
create unique index operator_approvals_change_key on operator_approvals (change_key)
  where change_key is not null;
create index operator_approvals_subject on operator_approvals (subject, created_at, id)
  where subject is not null;
