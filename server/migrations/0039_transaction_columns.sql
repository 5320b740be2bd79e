-- Holds what the type of a transaction guarantees of its columns, as the code reads them without a check.

alter table transactions add constraint transactions_columns check (
  case type
    when 'OUTGOING' then
      direction = 'DEBIT' and destination_account is not null
      and sent_amount is not null and sent_currency is not null
      and received_amount is not null and received_currency is not null
      and fees is not null and platform_fees is not null and exchange_rate is not null
      and card is null
    when 'INCOMING' then
      direction = 'CREDIT' and destination_account is not null
      and received_amount is not null and received_currency is not null
      and card is null
    when 'CARD' then
      customer_id is not null and sent_amount is not null and sent_currency is not null
      and card is not null
      and case direction
        when 'DEBIT' then source_account is not null
        when 'CREDIT' then destination_account is not null
        else false
      end
    else false
  end
);
