-- Jobs name the platform that they work for, have a state, and keep the error of their last attempt.

-- Empty: no platform is known, as of rows that an older process inserts during a rolling upgrade.
-- A dead job is due in the year 9999, so that no process of an older release runs it.
alter table jobs
  add column platform_id text collate "C" not null default '',
  add column state text not null default 'queued' check (state in ('queued', 'running', 'dead')),
  add column last_error text,
  add column failed_at timestamptz;

update jobs set platform_id = coalesce(
  input ->> 'platformId',
  input ->> 'platform',
  (select t.platform_id from transactions t where t.id = input ->> 'transactionId'),
  (select v.platform_id from verifications v where v.id = input ->> 'verificationId'),
  (select e.platform_id from external_accounts e
    where e.id = coalesce(input ->> 'externalAccountId', input ->> 'accountId')),
  (select i.platform_id from imports i where i.id = input ->> 'importId'),
  (select q.platform_id from quotes q where q.id = input ->> 'quoteId'),
  (select c.platform_id from cards c where c.id = input ->> 'cardId'),
  (select o.platform_id from stablecoin_operations o where o.id = input ->> 'operationId'),
  '');

-- One lane for each kind and platform: the claim steps from lane to lane along it.
create index jobs_lanes on jobs (kind, platform_id, due_at) where state <> 'dead';
create index jobs_dead on jobs (failed_at) where state = 'dead';

-- Jobs that an operator cancelled. `about` holds the ids that the job's input named, nothing personal.
create table job_cancellations (
  id text collate "C" primary key,
  platform_id text collate "C" not null,
  kind text not null,
  about json not null,
  attempts integer not null,
  last_error text,
  reason text not null,
  created_at timestamptz not null
);
create index job_cancellations_newest on job_cancellations (created_at, id);
