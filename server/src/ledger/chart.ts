// The chart of accounts as data. A customer's or platform's balance is an account with the id of its
// internal account; the ids of all other accounts are made here. Money that is no balance belongs to the
// house, one account per environment, purpose and currency. House accounts may go below zero: what is owed
// outside stands against what is kept inside, so the sum over all accounts of a currency is zero at every
// moment. Velocity limits and tokens of stablecoins are counted in units of their own, which have a period in
// their name and are in no total of money.
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

/** Ids of a house account in any environment and currency, as a pattern of SQL. */
export const houseLike = (purpose: House): string => `house:%:${purpose}:%`;

/** Every house account there must be for these currencies. */
export function houseAccounts(currencies: readonly string[]): { id: string; currency: string }[] {
  return MODES.flatMap((environment) =>
    (Object.keys(HOUSE) as House[]).flatMap((purpose) =>
      currencies.map((currency) => ({ id: house(environment, purpose, currency), currency })),
    ),
  );
}

/** What a velocity limit is of, by which its account is named. Days, hours and months are in UTC. */
export const velocityLimitOf = {
  /** What a platform sends in a day; `scope` is a currency, or the two of a payment. */
  sending: (platformId: string, scope: string, day: string) => `${platformId}:${scope}:${day}`,
  /** How many payments a customer starts in an hour. */
  starts: (customerId: string, hour: string) => `${customerId}:hour:${hour}`,
  /** What an agent spends in a day or a month. */
  spending: (agentId: string, currency: string, period: string) =>
    `${agentId}:${currency}:${period}`,
  /** How many payments an agent makes in a day. */
  payments: (agentId: string, day: string) => `${agentId}:count:${day}`,
  /** How many live cards a platform or a cardholder has. */
  liveCards: (holderId: string) => `cards:${holderId}`,
} as const;

/** Id of the account of a velocity limit: what was used up of it stands below zero. */
export const velocityLimitAccount = (of: string): string => `volume:${of}`;

/** Id of the account that is credited with what is used up of all limits in a unit. */
export const velocityCounterAccount = (environment: Mode, unit: string): string =>
  `volume:${environment}:${unit}`;

/** Begins the currency of accounts of velocity limits; the rest is what is counted. */
export const VELOCITY_UNIT = 'volume.';

/** Id of the account of all units of a stablecoin that were ever issued; it stands below zero. */
export const issuedTokensAccount = (coinId: string): string => `stablecoin:${coinId}:issued`;

/** Id of the account of the units of a stablecoin that circulate. */
export const circulatingTokensAccount = (coinId: string): string =>
  `stablecoin:${coinId}:circulating`;

/** Begins the currency of the two accounts of a stablecoin; the rest is its id. */
export const TOKEN_UNIT = 'stablecoin.';
