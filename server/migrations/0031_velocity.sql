-- How many payments one customer of a platform may start in an hour, as its operator has set it.

-- Null: any number.
alter table platforms add column hourly_payments integer check (hourly_payments > 0);
