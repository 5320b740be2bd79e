-- What came of each try to deliver an event. Rows are only ever added; an event that was given up is the
-- one whose last row says so. id is the event's id and the number of the try, so a try is written once.
create table webhook_attempts (
  id text collate "C" primary key,
  event_id text collate "C" not null,
  attempt integer not null,
  at timestamptz not null,
  -- Null when no answer came; then error says why.
  status integer,
  error text,
  ms integer not null,
  response text,
  result text not null check (result in ('delivered', 'retry', 'dropped'))
);
create index webhook_attempts_dropped on webhook_attempts (at) where result = 'dropped';

-- Which process delivers the events of a platform, until when. One at a time, so that the order of events
-- and the limit on requests hold however many processes there are; a dead one's lease lapses.
create table webhook_lanes (
  platform_id text collate "C" primary key,
  holder text not null,
  until timestamptz not null
) with (fillfactor = 50);
