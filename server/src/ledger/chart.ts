// The chart of accounts: the IDs of all ledger accounts, except balances of customers and platforms, which
// have the ID of their internal account. All other funds are on system accounts, one per environment, purpose
// and currency. System accounts may be negative, because they balance external obligations so that the
// accounts of a currency sum to zero. Velocity limits and stablecoin tokens are counted in units with a
// dot in the name, which are excluded from totals of money.
import { MODES, type Mode } from '../kernel/mode.ts';

export const SYSTEM_ACCOUNTS = {
  /** Funds in transit between the platform's accounts and the rails. */
  rail_in_transit: 'Rail in transit',
  /** Counterpart of all external settlements. */
  external_settlement: 'External settlement',
  /** Position per currency, with both legs of each conversion and rounding differences. */
  fx_position: 'FX position',
  /** Service fees earned. */
  fees: 'Service fees',
  /** Funds that can be neither completed nor returned without an operator's decision. */
  suspense: 'Suspense',
  /** Pay-ins received for a payment and not yet applied. */
  inbound: 'Pay-ins in progress',
  /**
   * Amounts owed by platforms and customers: fees that exceed the balance, deposits reversed by a
   * bank.
   */
  receivable: 'Receivables',
  /** Amounts debited for card payments that the network has not settled yet. */
  cards: 'Card settlement',
  /** Amounts paid to card networks or providers and not recoverable. */
  losses: 'Written off',
  /** Fees that providers charged. */
  expenses: 'Fees of providers',
  /** Funds of this installation at a provider, one account for each provider. */
  provider: 'Funds at providers',
} as const;

export type SystemAccount = keyof typeof SYSTEM_ACCOUNTS;

/** ID of a system account. */
export const systemAccount = (
  environment: Mode,
  purpose: SystemAccount,
  currency: string,
): string => `system:${environment}:${purpose}:${currency}`;

/** ID of the account of the funds at a provider, which is negative while the provider holds funds. */
export const providerAccount = (environment: Mode, currency: string, providerId: string): string =>
  `${systemAccount(environment, 'provider', currency)}:${providerId}`;

/** All IDs of system accounts are between these two strings. */
export const SYSTEM_ACCOUNT_IDS = { after: 'system:', before: 'system;' };

/** Environment and purpose of a system account. Undefined for any other account. */
export function partsOfSystemAccount(
  id: string,
): { environment: Mode; purpose: SystemAccount } | undefined {
  const [prefix, environment, purpose] = id.split(':');
  if (`${prefix}:` !== SYSTEM_ACCOUNT_IDS.after) return undefined;
  return { environment: environment as Mode, purpose: purpose as SystemAccount };
}

/** IDs of a system account in all environments and currencies, as an SQL pattern. */
export const systemAccountPattern = (purpose: SystemAccount): string => `system:%:${purpose}:%`;

/** All system accounts for these currencies, except those of providers. */
export function systemAccounts(currencies: readonly string[]): { id: string; currency: string }[] {
  return MODES.flatMap((environment) =>
    (Object.keys(SYSTEM_ACCOUNTS) as SystemAccount[])
      .filter((purpose) => purpose !== 'provider')
      .flatMap((purpose) =>
        currencies.map((currency) => ({
          id: systemAccount(environment, purpose, currency),
          currency,
        })),
      ),
  );
}

/** Subjects of velocity limits, from which account IDs are derived. Periods are in UTC. */
export const velocityLimitOf = {
  /** Amount sent by a platform in a day. `scope` is a currency, or both currencies of a payment. */
  sending: (platformId: string, scope: string, day: string) => `${platformId}:${scope}:${day}`,
  /** Number of payments started by a customer in an hour. */
  starts: (customerId: string, hour: string) => `${customerId}:hour:${hour}`,
  /** Amount spent by an agent in a day or a month. */
  spending: (agentId: string, currency: string, period: string) =>
    `${agentId}:${currency}:${period}`,
  /** Number of payments made by an agent in a day. */
  payments: (agentId: string, day: string) => `${agentId}:count:${day}`,
  /** Number of open cards of a platform or a cardholder. */
  openCards: (holderId: string) => `cards:${holderId}`,
} as const;

/** ID of the account of a velocity limit, whose used part is a negative balance. */
export const velocityLimitAccount = (subject: string): string => `velocity:${subject}`;

/** ID of the account that is credited with the used part of all limits in a unit. */
export const velocityCounterAccount = (environment: Mode, unit: string): string =>
  `velocity:${environment}:${unit}`;

/** Currency prefix of velocity limit accounts, before the counted unit. */
export const VELOCITY_UNIT = 'velocity.';

/** ID of the account of all issued units of a stablecoin. Its balance is negative. */
export const issuedTokensAccount = (coinId: string): string => `stablecoin:${coinId}:issued`;

/** ID of the account of the circulating units of a stablecoin. */
export const circulatingTokensAccount = (coinId: string): string =>
  `stablecoin:${coinId}:circulating`;

/** Currency prefix of the two accounts of a stablecoin, before its ID. */
export const TOKEN_UNIT = 'stablecoin.';
