-- What the body of a delivery contains: the resource (FULL), or its identifier only (THIN).
alter table webhook_endpoints add column format text not null default 'FULL' check (format in ('FULL', 'THIN'));
alter table webhook_endpoints alter column format drop default;
