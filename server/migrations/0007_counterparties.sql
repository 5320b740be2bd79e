-- What a payment tells about its other end, as the platform asked for it in the currency that is received,
-- and why the money is sent, which some countries want to know from the rail.

alter table transactions add column counterparty json;
alter table transactions add column purpose text;
