-- Payments that are funded from outside, called back, carried by another provider, or seen on a chain.

alter table transactions add column funded_amount bigint check (funded_amount > 0);
alter table transactions add column cancel_requested_at timestamptz;
alter table transactions add column carrier json;
alter table transactions add column requested_fields json;
alter table transactions add column source_chain json;
alter table transactions add column destination_chain json;
alter table transactions add column instructions json;
alter table transactions add column sent_at timestamptz;
alter table transactions add column needs_proof boolean;
