// How money of mints and burns travels, in the words of the contract, and what an external account must be to
// stand at its end. The contract's words are the provider's and not those of our own rails, so here is what
// each of them is among ours.
import { railsOf } from '../../../catalog/accounts/account-info.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import type { ExternalAccountRow } from '../../payees/external-accounts/index.ts';

/** What pays for a mint. */
export const MINT_SOURCES = [
  'WIRE',
  'ACH_DEBIT',
  'SAME_DAY_ACH_DEBIT',
  'SERVICE_INTERNAL_ACCOUNT',
  'PROVIDER_INTERNAL_BALANCE',
] as const;

/** Where the tokens of a burn come from. */
export const BURN_SOURCES = [
  'EXTERNAL_ACCOUNT',
  'SERVICE_INTERNAL_ACCOUNT',
  'PROVIDER_INTERNAL_BALANCE',
] as const;

export type SourceType = (typeof MINT_SOURCES)[number] | (typeof BURN_SOURCES)[number];

export const BURN_RAILS = ['WIRE', 'ACH_CREDIT', 'SAME_DAY_ACH_CREDIT', 'RTP_CREDIT'] as const;
export type BurnRail = (typeof BURN_RAILS)[number];

/** What an external account is used for: paid over a rail, debited, or sent tokens. */
export type Use = BurnRail | 'ACH_DEBIT' | 'SPARK';

const OURS: Readonly<Record<Exclude<Use, 'SPARK'>, PaymentRail>> = {
  WIRE: 'WIRE',
  ACH_CREDIT: 'ACH',
  SAME_DAY_ACH_CREDIT: 'ACH',
  RTP_CREDIT: 'RTP',
  ACH_DEBIT: 'ACH',
};

/** Money moves between banks of the US alone, and tokens on Spark alone. */
export function serves(row: ExternalAccountRow, use: Use): boolean {
  if (row.status !== 'ACTIVE') return false;
  if (use === 'SPARK') return row.account_type === 'SPARK_WALLET';
  return row.account_type === 'USD_ACCOUNT' && railsOf(row.info).includes(OURS[use]);
}
