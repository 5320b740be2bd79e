-- Requests on a card after its expiry month are declined.
alter table card_messages drop constraint card_messages_reason_check,
  add constraint card_messages_reason_check check (reason in ('CARD_NOT_ACTIVE', 'CARD_PAUSED', 'CARD_EXPIRED',
    'SPEND_LIMIT_EXCEEDED', 'NO_FUNDING_SOURCE', 'INSUFFICIENT_FUNDS', 'CARDHOLDER_NOT_READY',
    'CURRENCY_NOT_SUPPORTED', 'TOO_LATE'));
