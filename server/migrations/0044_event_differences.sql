-- An event about the same resource as an earlier one of its change set stores only what differs.
alter table events add column base_id text collate "C";
