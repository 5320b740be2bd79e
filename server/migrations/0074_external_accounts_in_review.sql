-- External accounts that wait for a review: few of many. The overview of operators counts them.
create index external_accounts_in_review on external_accounts (created_at, id)
  where status = 'UNDER_REVIEW' and deleted_at is null;
