// The chart of accounts as data. A customer's or platform's balance is an account with the id of its
// internal account; everything else belongs to the house, one account per environment, purpose and
// currency. House accounts may go below zero: what is owed outside stands against what is kept inside,
// so that the sum over all accounts of a currency is zero at every moment.

import { MODES, type Mode } from '../kernel/mode.ts';
export const HOUSE = {
  /** Money on its way between us and the rails. */
  clearing: 'On its way to or from a rail',
  /** Money the rails have taken over for good. */
  settled: 'Handed over to the outside',
  /** Our position in each currency; both legs of a conversion meet here, rounding included. */
  exchange: 'Exchange position',
  /** What the service earned. */
  fees: 'Service fees',
  /** Money that can go neither forward nor back until a person decides. */
  suspense: 'Waiting for a decision',
  /** Money that came in for a payment and has not gone on yet. */
  inbound: 'Came in for a payment under way',
  /** What platforms and customers owe us: fees they had spent, deposits that a bank took back. */
  receivable: 'Owed to us',
  /** Money taken for payments with cards that their network has not cleared yet. */
  cards: 'Taken for card payments and not cleared yet',
  /** What networks were paid and nobody could be asked for. */
  losses: 'Paid at our own cost',
} as const;

export type House = keyof typeof HOUSE;

/** Id of a house account. */
export const house = (environment: Mode, purpose: House, currency: string): string =>
  `house:${environment}:${purpose}:${currency}`;

/** Every house account there must be for these currencies. */
export function houseAccounts(currencies: readonly string[]): { id: string; currency: string }[] {
  return MODES.flatMap((environment) =>
    (Object.keys(HOUSE) as House[]).flatMap((purpose) =>
      currencies.map((currency) => ({ id: house(environment, purpose, currency), currency })),
    ),
  );
}
