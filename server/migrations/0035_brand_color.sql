-- The colour of a platform on its hosted pages, as its operator has set it.

-- Null: the default colour.
alter table platforms add column brand_color text check (brand_color ~ '^#[0-9a-f]{6}$');
