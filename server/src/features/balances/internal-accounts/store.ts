// Internal accounts: a balance in one currency, of a customer or of the platform. Balances are only
// in the ledger account, which has the same ID.

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
  /** Null for accounts of the platform. */
  customer_id: col.text.null,
  currency: col.text,
  type: col.enum<InternalAccountType>(),
  status: col.enum<InternalAccountStatus>().mut,
  funding: col.json<PaymentInstructions[]>().mut,
  private_enabled: col.bool.null.mut,
  /** Shortfall in minor units: funds that were returned after they were spent. */
  owed: col.int8.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
};

export const internalAccounts = table('internal_accounts', columns, {
  // Operations check for an existing account first, so only concurrent openings reach the
  // constraint.
  contendedKeys: ['internal_accounts_one_each'],
  lifecycles: [{ state: (row) => row.status, states: internalAccountStates }],
});

export type InternalAccountRow = RowOf<typeof internalAccounts>;

/** Reads by ID. Concurrent reads are batched. */
export const readInternalAccount = (
  reader: Reader,
  id: string,
): Promise<InternalAccountRow | undefined> => reader.read(internalAccounts, id);

/** The commit fails if the account changed since it was read. */
export const requireInternalAccount = (ctx: Ctx, row: InternalAccountRow): void =>
  ctx.require(internalAccounts, row);

/** Accounts that match all column values in `where`. */
export const findInternalAccounts = (
  db: Pick<Database, 'find'>,
  where: Partial<InternalAccountRow>,
  options?: FindOptions<typeof internalAccounts>,
): Promise<InternalAccountRow[]> => db.find(internalAccounts, where, options);

/** Sets the privacy setting of the wallet, which is stored without effect. */
export const setAccountPrivacy = (
  ctx: Ctx,
  row: InternalAccountRow,
  isPrivate: boolean,
): InternalAccountRow =>
  ctx.update(internalAccounts, row, { private_enabled: isPrivate, updated_at: ctx.now });

/** The account with the changes staged in this change set, such as its shortfall. */
export function findStagedAccount(ctx: Ctx, account: InternalAccountRow): InternalAccountRow {
  const stagedUpdate = ctx.set.updates.find(
    (each) => each.table.name === internalAccounts.name && each.id === account.id,
  );
  return (stagedUpdate?.row as InternalAccountRow | undefined) ?? account;
}

/** Stages the shortfall, in minor units. */
export const setOwed = (ctx: Ctx, account: InternalAccountRow, owed: bigint): InternalAccountRow =>
  ctx.update(internalAccounts, account, { owed, updated_at: ctx.now });

/** Stages a new version without a change. */
export const renewInternalAccount = (ctx: Ctx, account: InternalAccountRow): InternalAccountRow =>
  ctx.update(internalAccounts, account, {});
