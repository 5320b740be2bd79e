-- Names of the two settings that say what they decide.
alter table platforms rename column skip_paperwork to documents_optional;
alter table platforms rename column terms_gate to terms_required;
