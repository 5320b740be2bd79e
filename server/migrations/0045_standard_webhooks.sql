-- Whether deliveries carry the headers of Standard Webhooks beside the service's own signature.
alter table platforms add column standard_webhooks boolean not null default true;
