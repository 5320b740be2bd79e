-- Signing keys rotate. `number` counts the rotations of an environment; the two keys of a rotation have the same
-- number and the same times. A key is published from `created_at` until `retired_at` and signs from `active_from`
-- until the next number does.
alter table signing_keys add column number integer;
update signing_keys set number = split_part(id, ' ', 3)::integer;
alter table signing_keys alter column number set not null;
alter table signing_keys add column active_from timestamptz;
update signing_keys set active_from = created_at;
alter table signing_keys alter column active_from set not null;
drop index signing_keys_active;
alter table signing_keys drop column status;
