// The invariants of cards and stablecoins, as data for `invariants.ts`.

import { coinTransitionProblem, orderProblem, supplyProblem } from '../model/stablecoin-records.ts';
import {
  cardLimitProblems,
  cardPaymentProblem,
  cardProblem,
  cardTransitionProblem,
  messageProblem,
  settlementProblems,
} from './card-rules.ts';
import { type ChangeRule, rule, type StepRule } from './rules.ts';

export const ISSUED_CHANGE_RULES: readonly ChangeRule[] = [
  {
    name: 'cards follow their lifecycle, within the limits',
    table: 'cards',
    check: cardTransitionProblem,
  },
  {
    name: 'card decisions are permanent and permitted',
    table: 'card_messages',
    check: messageProblem,
  },
  ...['stablecoin_provider_accounts', 'stablecoins', 'stablecoin_operations'].map(
    (table): ChangeRule => ({
      name: `${table} follow their lifecycle`,
      table,
      check: (_model, before, after) => coinTransitionProblem(table, before, after),
    }),
  ),
];

export const ISSUED_STEP_RULES: readonly StepRule[] = [
  rule('a card payment has the state of its messages', 'payments', (model, id) => {
    const payment = model.payments.get(id);
    return payment?.row.type === 'CARD' ? cardPaymentProblem(model, payment) : undefined;
  }),
  rule('a card has its bound funding sources and an event for each change', 'cards', cardProblem),
  {
    name: 'open cards count toward their limits',
    check: (model, changedItems) => cardLimitProblems(model, changedItems.cardLimits),
  },
  {
    name: 'the card settlement account equals the open card payments',
    check: (model, changedItems) =>
      [...changedItems.accounts].some((id) => id.includes(':cards:'))
        ? settlementProblems(model)
        : [],
  },
  rule('a mint or burn has the transfers of its state', 'orders', orderProblem),
  rule('circulating supply equals mints less burns', 'coins', supplyProblem),
];
