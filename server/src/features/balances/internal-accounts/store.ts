// An internal account: a balance in one currency that we keep for a customer or for the platform. The
// amounts are not here: its ledger account has the same id and is the only place that knows them.

import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import type { Database, FindOptions } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import { type InternalAccountStatus, internalAccountStates } from './states.ts';

export const INTERNAL_ACCOUNT_TYPES = [
  'INTERNAL_FIAT',
  'INTERNAL_CRYPTO',
  'EMBEDDED_WALLET',
] as const;
export type InternalAccountType = (typeof INTERNAL_ACCOUNT_TYPES)[number];

const columns = {
  id: col.text,
  platform_id: col.text,
  /** Null when the platform itself owns it. */
  customer_id: col.text.null,
  currency: col.text,
  type: col.word<InternalAccountType>(),
  status: col.word<InternalAccountStatus>().mut,
  funding: col.json<PaymentInstructions[]>().mut,
  private_enabled: col.bool.null.mut,
  /** What its owner owes us: money that left it again after it was spent. Smallest units. */
  owed: col.int8.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
};

export const internalAccounts = table('internal_accounts', columns, {
  // Whoever opens accounts looks first, so this is met by two who open the same in one instant.
  contendedKeys: ['internal_accounts_one_each'],
  lifecycles: [{ state: (row) => row.status, states: internalAccountStates }],
});

export type InternalAccountRow = RowOf<typeof internalAccounts>;

/** One account by id, read together with those that concurrent callers ask for. */
export const readInternalAccount = (
  reader: Reader,
  id: string,
): Promise<InternalAccountRow | undefined> => reader.read(internalAccounts, id);

/** The commit fails if the account changed since it was read. */
export const requireInternalAccount = (ctx: Ctx, row: InternalAccountRow): void =>
  ctx.require(internalAccounts, row);

/** Accounts whose columns equal all the given values. */
export const findInternalAccounts = (
  db: Pick<Database, 'find'>,
  where: Partial<InternalAccountRow>,
  options?: FindOptions<typeof internalAccounts>,
): Promise<InternalAccountRow[]> => db.find(internalAccounts, where, options);

/** Whether balances of the account are shown to its holder alone. */
export const setAccountPrivacy = (
  ctx: Ctx,
  row: InternalAccountRow,
  isPrivate: boolean,
): InternalAccountRow =>
  ctx.update(internalAccounts, row, { private_enabled: isPrivate, updated_at: ctx.now });

/** The account as this change set leaves it so far: what it owes may have changed in it already. */
export function stagedAccount(ctx: Ctx, account: InternalAccountRow): InternalAccountRow {
  const staged = ctx.set.updates.find(
    (each) => each.table.name === internalAccounts.name && each.id === account.id,
  );
  return (staged?.row as InternalAccountRow | undefined) ?? account;
}

/** Stages what its owner owes, smallest units. */
export const setOwed = (ctx: Ctx, account: InternalAccountRow, owed: bigint): InternalAccountRow =>
  ctx.update(internalAccounts, account, { owed, updated_at: ctx.now });
