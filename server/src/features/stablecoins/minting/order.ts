// A mint or burn in the provider's form. It is derived from rows alone and always the same, so
// validation, submission, repetition after a crash and polling are about one order. It contains
// only the provider's reference of an external account, because ours may be erased.
import type {
  LinkedAccount,
  MintOrder,
  OrderAccount,
} from '../../../connectors/ports/stablecoins.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { ExternalAccountRow } from '../../payees/external-accounts/index.ts';
import { nameOf } from '../coins/coins.ts';
import type { Use } from '../coins/rails.ts';
import {
  type StablecoinOperationRow,
  type StablecoinRow,
  stablecoinLinks,
  stablecoins,
} from '../store.ts';

/** Fields of the order that are known before the provider answers. */
export type Ordered = Pick<
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

/** An external account at an end of an order. */
export interface End {
  accountId: string;
  use: Use;
}

interface Ends {
  from?: End;
  to?: End;
}

/** External accounts at its ends. A wire and a deposit have none. */
export function endsOf({ type, source, destination }: Ordered): Ends {
  const { accountId, rail } = destination;
  if (type === 'BURN' && rail) return { to: { accountId, use: rail } };
  const debited = source.externalAccountId;
  return {
    ...(debited === undefined ? {} : { from: { accountId: debited, use: 'ACH_DEBIT' } }),
    to: { accountId, use: 'SPARK' },
  };
}

/** Each use of an account is registered separately: one that can be paid may not be debited. */
export const linkIdOf = (providerAccount: string, { accountId, use }: End): string =>
  `${providerAccount} ${accountId} ${use}`;

/** Data of an account for the provider, sent once for each use. */
export const linkedAccount = ({ id, info }: ExternalAccountRow, use: Use): LinkedAccount => ({
  id,
  info: { ...info },
  rail: use,
});

/** Reference of the account in later orders. */
export const orderEnd = ({ accountId: id, use: rail }: End, reference: string): OrderAccount => ({
  id,
  rail,
  reference,
});

export function orderOf(
  coin: StablecoinRow,
  row: Ordered,
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

async function linkedEnd(
  db: Database,
  row: Ordered,
  end: End | undefined,
): Promise<OrderAccount | undefined> {
  if (!end) return undefined;
  const link = await db.read(stablecoinLinks, linkIdOf(row.provider_account, end));
  if (!link) throw new Error(`${row.id}: ${end.accountId} is not linked`);
  return orderEnd(end, link.reference);
}

/** The order of an accepted operation. */
export async function orderOfRow(db: Database, row: Ordered, coinId: string): Promise<MintOrder> {
  const { from, to } = endsOf(row);
  const coin = await db.read(stablecoins, coinId);
  if (!coin) throw new Error(`${row.id} is of no stablecoin`);
  const ends = { from: await linkedEnd(db, row, from), to: await linkedEnd(db, row, to) };
  return orderOf(coin, row, ends);
}
