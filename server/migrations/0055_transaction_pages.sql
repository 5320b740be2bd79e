-- A payment changes its status once or twice soon after its row was inserted. With half of each page free the
-- new row version fits beside the old one, so none of the indexes is written again.
alter table transactions set (fillfactor = 50);
