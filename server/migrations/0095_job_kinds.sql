-- Kinds of jobs in standard terms. During a rolling upgrade, processes of the earlier release still stage jobs of
-- the earlier kinds. Handlers run both.
create function job_kind_renamed(kind text) returns text immutable language sql as $$
  select case kind
    when 'cards.pull' then 'cards.funding-debit'
    when 'incoming.ask' then 'incoming.request-approval'
    when 'invitations.tell-claimed' then 'invitations.notify-claimed'
    when 'quotes.lapse' then 'quotes.expire-authorization'
    when 'verification.ask' then 'verification.check'
    else kind end $$;
update jobs set kind = job_kind_renamed(kind) where kind <> job_kind_renamed(kind);
update job_cancellations set kind = job_kind_renamed(kind) where kind <> job_kind_renamed(kind);
drop function job_kind_renamed;
