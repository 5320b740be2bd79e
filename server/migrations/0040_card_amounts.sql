-- The amounts of a card payment, in smallest units of the card's currency, as columns with constraints. What
-- names the payment (card, token, merchant, currency) stays in `card`.

alter table transactions
  add column card_authorized bigint,
  -- Nothing more will be cleared.
  add column card_closed boolean,
  add column card_clearings bigint[],
  add column card_refunds bigint[],
  -- Each pull takes from the account that pays; its status has the same place in `card_pull_statuses`.
  add column card_pulls bigint[],
  add column card_pull_statuses text[],
  add column card_released bigint,
  add column card_written_off bigint,
  add column card_recovered bigint,
  -- Clearings taken back with a late approval; null where none was undone.
  add column card_undone_clearings integer,
  add column card_reversed_refunds integer,
  add column card_last_event_at timestamptz;

-- Rows change their shape and not their meaning, so versions stay.
alter table transactions drop constraint transactions_columns;

update transactions set
  card_authorized = (card ->> 'authorized')::bigint,
  card_closed = (card ->> 'closed')::boolean,
  card_clearings = array(select value::bigint
    from json_array_elements_text(card -> 'settlements') with ordinality e(value, n) order by n),
  card_refunds = array(select value::bigint
    from json_array_elements_text(card -> 'returns') with ordinality e(value, n) order by n),
  card_pulls = array(select (value ->> 'amount')::bigint
    from json_array_elements(card -> 'pulls') with ordinality e(value, n) order by n),
  card_pull_statuses = array(select value ->> 'status'
    from json_array_elements(card -> 'pulls') with ordinality e(value, n) order by n),
  card_released = (card ->> 'back')::bigint,
  card_written_off = (card ->> 'lost')::bigint,
  card_recovered = coalesce((card ->> 'recouped')::bigint, 0),
  card_undone_clearings = (card ->> 'undone')::integer,
  card_reversed_refunds = coalesce((card ->> 'reversed')::integer, 0),
  card_last_event_at = (card ->> 'lastEventAt')::timestamptz,
  card = json_build_object('cardId', card -> 'cardId', 'token', card -> 'token',
    'merchant', card -> 'merchant', 'currency', card -> 'currency')
where type = 'CARD';

create function card_sum(amounts bigint[]) returns numeric language sql immutable parallel safe
  return (select coalesce(sum(amount), 0) from unnest(amounts) amount);

create function card_pulled(amounts bigint[], statuses text[]) returns numeric
  language sql immutable parallel safe
  return (select coalesce(sum(amount) filter (where status = 'CONFIRMED'), 0)
    from unnest(amounts, statuses) pull(amount, status));

-- As 0039 has it, with the new columns: all of a card payment's are filled but `card_undone_clearings`, and
-- those of no other type.
alter table transactions add constraint transactions_columns check (
  case type
    when 'OUTGOING' then
      direction = 'DEBIT' and destination_account is not null
      and sent_amount is not null and sent_currency is not null
      and received_amount is not null and received_currency is not null
      and fees is not null and platform_fees is not null and exchange_rate is not null
    when 'INCOMING' then
      direction = 'CREDIT' and destination_account is not null
      and received_amount is not null and received_currency is not null
    when 'CARD' then
      customer_id is not null and sent_amount is not null and sent_currency is not null
      and num_nulls(card, card_authorized, card_closed, card_clearings, card_refunds, card_pulls,
        card_pull_statuses, card_released, card_written_off, card_recovered, card_reversed_refunds,
        card_last_event_at) = 0
      and case direction
        when 'DEBIT' then source_account is not null
        when 'CREDIT' then destination_account is not null
        else false
      end
    else false
  end
  and (type = 'CARD' or num_nonnulls(card, card_authorized, card_closed, card_clearings, card_refunds,
    card_pulls, card_pull_statuses, card_released, card_written_off, card_recovered,
    card_undone_clearings, card_reversed_refunds, card_last_event_at) = 0)
),
-- What the arithmetic guarantees (`features/cards/clearing/arithmetic.ts`): pieces are positive, clearings and
-- refunds at most a hundred each; no more is refunded than was cleared, released to the account than was
-- taken from it, written off than was cleared, or recovered than was refunded; and a merchant credit takes
-- nothing.
add constraint transactions_card_amounts check (
  type <> 'CARD' or (
    card_authorized >= 0 and card_released >= 0 and card_written_off >= 0 and card_recovered >= 0
    and (card_undone_clearings is null or card_undone_clearings >= 0)
    and card_reversed_refunds >= 0
    and array_position(card_clearings || card_refunds || card_pulls, null) is null
    and 0 < all(card_clearings) and cardinality(card_clearings) <= 100
    and 0 < all(card_refunds) and cardinality(card_refunds) <= 100
    and 0 < all(card_pulls) and cardinality(card_pull_statuses) = cardinality(card_pulls)
    and card_pull_statuses <@ array['PENDING', 'CONFIRMED', 'STUCK', 'FAILED']
    and card_sum(card_refunds) <= card_sum(card_clearings)
    and card_written_off <= card_sum(card_clearings)
    and card_recovered <= card_sum(card_refunds)
    and card_released <= card_pulled(card_pulls, card_pull_statuses)
    and (direction = 'DEBIT' or (cardinality(card_pulls) = 0 and cardinality(card_refunds) = 0))
  )
);
