// The rules about what platforms issue, cards and stablecoins, as data for `invariants.ts`.

import { coinMoveProblem, orderProblem, supplyProblem } from '../picture/coin-book.ts';
import {
  cardMoveProblem,
  cardPaymentProblem,
  cardProblem,
  keepingProblems,
  messageProblem,
  placeProblems,
} from './card-rules.ts';
import { type NoteRule, rule, type StepRule } from './rules.ts';

export const ISSUED_NOTE_RULES: readonly NoteRule[] = [
  {
    name: 'cards move along their lifecycle, within the limits',
    table: 'cards',
    check: cardMoveProblem,
  },
  {
    name: 'what was decided about a card is written down for good, and could be',
    table: 'card_messages',
    check: messageProblem,
  },
  ...['stablecoin_provider_accounts', 'stablecoins', 'stablecoin_operations'].map(
    (table): NoteRule => ({
      name: `${table} move along their lifecycle`,
      table,
      check: (_picture, was, now) => coinMoveProblem(table, was, now),
    }),
  ),
];

export const ISSUED_STEP_RULES: readonly StepRule[] = [
  rule('a payment with a card stands as its messages say', 'payments', (picture, id) => {
    const payment = picture.payments.get(id);
    return payment?.row.type === 'CARD' ? cardPaymentProblem(picture, payment) : undefined;
  }),
  rule('a card is paid for by what is bound to it, and its changes are told', 'cards', cardProblem),
  {
    name: 'live cards take their places',
    check: (picture, touched) => placeProblems(picture, touched.places),
  },
  {
    name: 'our keeping has what card payments say',
    check: (picture, touched) =>
      [...touched.accounts].some((id) => id.includes(':cards:')) ? keepingProblems(picture) : [],
  },
  rule('a mint or burn has moved what its state says', 'orders', orderProblem),
  rule('of a coin circulates what was minted and not burnt', 'coins', supplyProblem),
];
