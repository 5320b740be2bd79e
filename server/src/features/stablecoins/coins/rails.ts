// Rails of mints and burns in the terms of the contract, and requirements for external accounts.
// The contract uses the terms of the provider. This file maps them to the rails of the catalog.
import { railsOf } from '../../../catalog/accounts/account-info.ts';
import type { PaymentRail } from '../../../catalog/rails/rails.ts';
import type { ExternalAccountRow } from '../../payees/external-accounts/index.ts';

/** Funding of a mint. */
export const MINT_SOURCES = [
  'WIRE',
  'ACH_DEBIT',
  'SAME_DAY_ACH_DEBIT',
  'SERVICE_INTERNAL_ACCOUNT',
  'PROVIDER_INTERNAL_BALANCE',
] as const;

/** Source of the tokens of a burn. */
export const BURN_SOURCES = [
  'EXTERNAL_ACCOUNT',
  'SERVICE_INTERNAL_ACCOUNT',
  'PROVIDER_INTERNAL_BALANCE',
] as const;

export type SourceType = (typeof MINT_SOURCES)[number] | (typeof BURN_SOURCES)[number];

export const BURN_RAILS = ['WIRE', 'ACH_CREDIT', 'SAME_DAY_ACH_CREDIT', 'RTP_CREDIT'] as const;
export type BurnRail = (typeof BURN_RAILS)[number];

/** Use of an external account: payout over a rail, debit, or token transfer. */
export type RailUse = BurnRail | 'ACH_DEBIT' | 'SPARK';

const RAIL_OF_USE: Readonly<Record<Exclude<RailUse, 'SPARK'>, PaymentRail>> = {
  WIRE: 'WIRE',
  ACH_CREDIT: 'ACH',
  SAME_DAY_ACH_CREDIT: 'ACH',
  RTP_CREDIT: 'RTP',
  ACH_DEBIT: 'ACH',
};

/**
 * Whether the account is active and supports the use. Fiat requires a US account, and tokens
 * require a Spark wallet.
 */
export function supportsUse(row: ExternalAccountRow, use: RailUse): boolean {
  if (row.status !== 'ACTIVE') return false;
  if (use === 'SPARK') return row.account_type === 'SPARK_WALLET';
  return row.account_type === 'USD_ACCOUNT' && railsOf(row.info).includes(RAIL_OF_USE[use]);
}
