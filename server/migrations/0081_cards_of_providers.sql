-- Reversals of a part of an authorization; and routes of further kinds, which the server validates.
alter table provider_routes drop constraint if exists provider_routes_kind_check;
alter table card_messages drop constraint card_messages_kind_check,
  add constraint card_messages_kind_check check (kind in (
    'AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION',
    'FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE', 'BALANCE_INQUIRY',
    'CLEARING', 'AUTHORIZATION_EXPIRY', 'AUTHORIZATION_ADVICE', 'AUTHORIZATION_REVERSAL',
    'RETURN', 'RETURN_REVERSAL'));
