-- Numbers the live tokens of each platform, so that their maximum is a unique key and holds however many are
-- created at once. Tokens beyond the maximum, from before there was one, keep no number and stay valid.

alter table tokens add column number integer check (number between 1 and 100);

update tokens set number = numbered.number
  from (select id, row_number() over (partition by platform_id order by id) as number from tokens) numbered
  where numbered.id = tokens.id and numbered.number <= 100;

create unique index tokens_number on tokens (platform_id, number);
