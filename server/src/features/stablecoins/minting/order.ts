// A mint or burn as an order of the provider. The order is derived from rows alone, so validation,
// submission, repetition after a crash and polls refer to the same order. The order contains only the
// provider's reference of an external account, because the account details may be erased.
import type {
  LinkedAccount,
  MintOrder,
  OrderAccount,
} from '../../../connectors/ports/stablecoins.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { ExternalAccountRow } from '../../payees/external-accounts/index.ts';
import { nameOf } from '../coins/coins.ts';
import type { RailUse } from '../coins/rails.ts';
import {
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoinLinks,
  stablecoins,
} from '../store.ts';

/** Fields of an order before the provider has validated it. */
export type OrderFields = Pick<
  StablecoinOperationRow,
  | 'id'
  | 'platform_id'
  | 'type'
  | 'provider_account'
  | 'amount'
  | 'source'
  | 'destination'
  | 'description'
  | 'created_at'
>;

/** An external account of an order. */
export interface OrderParty {
  accountId: string;
  use: RailUse;
}

interface OrderParties {
  from?: OrderParty;
  to?: OrderParty;
}

/** External accounts of an order. `from` is absent unless a bank account is debited. */
export function partiesOf({ type, source, destination }: OrderFields): OrderParties {
  const { accountId, rail } = destination;
  if (type === 'BURN' && rail) return { to: { accountId, use: rail } };
  const debitedAccountId = source.externalAccountId;
  return {
    ...(debitedAccountId === undefined
      ? {}
      : { from: { accountId: debitedAccountId, use: 'ACH_DEBIT' } }),
    to: { accountId, use: 'SPARK' },
  };
}

/**
 * Each use of an account is registered separately, because an account that supports payouts may not
 * support debits.
 */
export const linkIdOf = (providerAccount: string, { accountId, use }: OrderParty): string =>
  `${providerAccount} ${accountId} ${use}`;

/** Data of an account for the provider, sent once for each use. */
export const linkedAccount = ({ id, info }: ExternalAccountRow, use: RailUse): LinkedAccount => ({
  id,
  info: { ...info },
  rail: use,
});

/** Reference of the account in later orders. */
export const orderAccount = (
  { accountId: id, use: rail }: OrderParty,
  reference: string,
): OrderAccount => ({
  id,
  rail,
  reference,
});

export function orderOf(
  coin: StablecoinRow,
  row: OrderFields,
  { from, to }: { from?: OrderAccount | undefined; to?: OrderAccount | undefined },
): MintOrder {
  return {
    id: row.id,
    type: row.type,
    token: nameOf(coin),
    decimals: coin.decimals,
    baseCurrency: coin.base_currency,
    amount: row.amount,
    source: row.source.type,
    rail: row.destination.rail ?? 'SPARK',
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    description: row.description,
    orderedAt: row.created_at,
  };
}

async function linkedAccountOf(
  db: Database,
  row: OrderFields,
  party: OrderParty | undefined,
): Promise<OrderAccount | undefined> {
  if (!party) return undefined;
  const link = await db.read(stablecoinLinks, linkIdOf(row.provider_account, party));
  if (!link) throw new Error(`${row.id}: ${party.accountId} is not linked`);
  return orderAccount(party, link.reference);
}

/** The order of an accepted operation. */
export async function orderOfRow(
  db: Database,
  row: OrderFields,
  coinId: string,
): Promise<MintOrder> {
  const { from, to } = partiesOf(row);
  const coin = await db.read(stablecoins, coinId);
  if (!coin) throw new Error(`${row.id} has no stablecoin`);
  const accounts = {
    from: await linkedAccountOf(db, row, from),
    to: await linkedAccountOf(db, row, to),
  };
  return orderOf(coin, row, accounts);
}
