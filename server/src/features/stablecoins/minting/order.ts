// A mint or burn as its provider is given it. It is made from rows alone and always the same, so that asking
// before the order, ordering, ordering again after a crash and asking how it goes are about one thing. An
// account at its end is the provider's name for it and nothing more, for what we know of it may be erased.
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

/** What of an operation its order says; the rest the provider answers. */
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

/** Which accounts stand at its ends. A wire and a deposit come from anywhere, and have none. */
export function endsOf({ type, source, destination }: Ordered): Ends {
  const { accountId, rail } = destination;
  if (type === 'BURN' && rail) return { to: { accountId, use: rail } };
  const debited = source.externalAccountId;
  return {
    ...(debited === undefined ? {} : { from: { accountId: debited, use: 'ACH_DEBIT' } }),
    to: { accountId, use: 'SPARK' },
  };
}

/** Each use of an account is a link of its own: who may be paid need not be one who may be debited. */
export const linkIdOf = (providerAccount: string, { accountId, use }: End): string =>
  `${providerAccount} ${accountId} ${use}`;

/** What a provider is told of an account, once for each use. */
export const linkedAccount = ({ id, info }: ExternalAccountRow, use: Use): LinkedAccount => ({
  id,
  info: { ...info },
  rail: use,
});

/** What an order says of it from then on. */
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

/** The order of an operation that was accepted. */
export async function orderOfRow(db: Database, row: Ordered, coinId: string): Promise<MintOrder> {
  const { from, to } = endsOf(row);
  const coin = await db.read(stablecoins, coinId);
  if (!coin) throw new Error(`${row.id} is of no stablecoin`);
  const ends = { from: await linkedEnd(db, row, from), to: await linkedEnd(db, row, to) };
  return orderOf(coin, row, ends);
}
