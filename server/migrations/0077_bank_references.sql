-- Operators search payments by the reference of the bank. Only results over manual rails have one.
create index rail_results_reference on rail_results (reference, created_at) where reference is not null;
