// The chart of accounts as data. A customer's or platform's balance is an account with the id of its
// internal account; the ids of all other accounts are made here. Money that is no balance belongs to the
// house, one account per environment, purpose and currency. House accounts may go below zero: what is owed
// outside stands against what is kept inside, so the sum over all accounts of a currency is zero at every
// moment. Velocity limits and tokens of stablecoins are counted in units of their own, which have a period in
// their name and are in no total of money.
import { MODES, type Mode } from '../kernel/mode.ts';

export const SYSTEM_ACCOUNTS = {
  /** Funds in transit between the platform's accounts and the rails. */
  rail_in_transit: 'Rail in transit',
  /** Counterpart of everything settled outside. */
  external_settlement: 'External settlement',
  /** Position per currency; both legs of a conversion are posted here, rounding included. */
  fx_position: 'FX position',
  /** Service fees earned. */
  fees: 'Service fees',
  /** Funds that can be neither completed nor returned without an operator's decision. */
  suspense: 'Suspense',
  /** Pay-ins received for a payment and not yet applied. */
  inbound: 'Pay-ins in progress',
  /** Amounts owed by platforms and customers: fees already spent, deposits recalled by a bank. */
  receivable: 'Receivables',
  /** Amounts debited for card payments that the network has not settled yet. */
  cards: 'Card settlement',
  /** Amounts paid to card networks and not recoverable from a customer. */
  losses: 'Written off',
} as const;

export type SystemAccount = keyof typeof SYSTEM_ACCOUNTS;

/** Id of a house account. */
export const systemAccount = (
  environment: Mode,
  purpose: SystemAccount,
  currency: string,
): string => `system:${environment}:${purpose}:${currency}`;

/** Ids of a house account in any environment and currency, as a pattern of SQL. */
export const systemAccountPattern = (purpose: SystemAccount): string => `system:%:${purpose}:%`;

/** Every house account there must be for these currencies. */
export function systemAccounts(currencies: readonly string[]): { id: string; currency: string }[] {
  return MODES.flatMap((environment) =>
    (Object.keys(SYSTEM_ACCOUNTS) as SystemAccount[]).flatMap((purpose) =>
      currencies.map((currency) => ({
        id: systemAccount(environment, purpose, currency),
        currency,
      })),
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
export const velocityLimitAccount = (of: string): string => `velocity:${of}`;

/** Id of the account that is credited with what is used up of all limits in a unit. */
export const velocityCounterAccount = (environment: Mode, unit: string): string =>
  `velocity:${environment}:${unit}`;

/** Begins the currency of accounts of velocity limits; the rest is what is counted. */
export const VELOCITY_UNIT = 'velocity.';

/** Id of the account of all units of a stablecoin that were ever issued; it stands below zero. */
export const issuedTokensAccount = (coinId: string): string => `stablecoin:${coinId}:issued`;

/** Id of the account of the units of a stablecoin that circulate. */
export const circulatingTokensAccount = (coinId: string): string =>
  `stablecoin:${coinId}:circulating`;

/** Begins the currency of the two accounts of a stablecoin; the rest is its id. */
export const TOKEN_UNIT = 'stablecoin.';
