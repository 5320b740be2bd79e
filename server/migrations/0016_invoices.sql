-- Which payment goes to a Lightning invoice, as an invoice is good for one. The id is the invoice's payment
-- hash, so it is the same invoice however it is written and whoever registered it. A payment that failed
-- gives its place to the next.
create table invoice_uses (
  id text collate "C" primary key,
  transaction_id text collate "C" not null,
  created_at timestamptz not null,
  version integer not null default 1
);
