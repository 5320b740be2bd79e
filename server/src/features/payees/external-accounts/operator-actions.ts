// The lifecycle of external accounts as an operator may move it, with what a bank, a check or a person found
// out. Each move emits an event and is kept with its reason, and counts for what is decided from then on:
// payments that are with a bank already continue. Proofs of ownership are not part of it.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import { cursorOf } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { accountActionsOf, recordAccountAction } from '../../balances/account-actions/index.ts';
import { platformById, systemCaller } from '../../tenancy/platform/index.ts';
import { hasInstitution } from './account.ts';
import { stageWalletDeclared } from './declared.ts';
import { presentExternalAccount, transitionExternalAccount } from './present.ts';
import { type ExternalAccountEvent, externalAccountStates } from './states.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

const noAccount = () => new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
const conflict = (reason: string): Fault => new Fault('CONFLICT', reason);

/** Numbers show their last characters; the queue of transfers shows them whole. */
function view(row: ExternalAccountRow) {
  const {
    accountType: _,
    paymentRails: __,
    beneficiary: ___,
    ...account
  } = presentExternalAccount(row, { masked: true }).accountInfo as Record<string, unknown>;
  return {
    accountId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    currency: row.currency,
    status: row.status,
    accountType: row.account_type,
    account,
    updatedAt: iso(row.updated_at),
  };
}

async function accountById({ db }: Runtime, id: string): Promise<ExternalAccountRow> {
  const row = isId(id, 'ExternalAccount') ? await db.read(externalAccounts, id) : undefined;
  if (!row || row.deleted_at !== null) throw noAccount();
  return row;
}

interface ListInput {
  platformId?: string | undefined;
  status?: string | undefined;
  /** The last of the list before. */
  after?: string | undefined;
  limit: number;
}

/** External accounts, oldest first. */
export async function listExternalAccounts(
  runtime: Runtime,
  { platformId, status, after, limit }: ListInput,
) {
  const filters: Filter<typeof externalAccounts>[] = [{ column: 'deleted_at', op: 'isNull' }];
  if (platformId !== undefined) filters.push({ column: 'platform_id', op: '=', value: platformId });
  if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
  const cursor = after === undefined ? undefined : cursorOf(await accountById(runtime, after));
  const query = { filters, sort: 'asc', limit, cursor } as const;
  return (await runtime.db.page(externalAccounts, query)).rows.map(view);
}

/** Who moved an account by hand, and why. Throws ACCOUNT_NOT_FOUND. */
export const externalAccountHistory = async (runtime: Runtime, id: string) =>
  accountActionsOf(runtime, (await accountById(runtime, id)).id);

/** Stages the move and keeps who made it; throws CONFLICT where the account's state forbids it. */
function applyTransition(
  ctx: Ctx,
  row: ExternalAccountRow,
  event: ExternalAccountEvent,
  reason: string | null,
): ExternalAccountRow {
  if (externalAccountStates.peek(row.status, event) === undefined) {
    throw conflict(`This action is not possible: the account is ${row.status}.`);
  }
  if (event === 'check' && !hasInstitution(row.info)) {
    throw conflict('A wallet cannot be checked by a bank. Use a review instead.');
  }
  const moved = transitionExternalAccount(ctx, row, event);
  // It may be the wallet that a held deposit came from.
  stageWalletDeclared(ctx, moved);
  recordAccountAction(ctx, row, { actor: 'operator', action: event, reason });
  return moved;
}

interface TransitionInput {
  accountId: string;
  event: ExternalAccountEvent;
  reason: string | null;
}

/** Moves an account to another state. Throws ACCOUNT_NOT_FOUND and CONFLICT. */
export async function transitionExternalAccountByOperator(
  runtime: Runtime,
  { accountId, event, reason }: TransitionInput,
) {
  const { id, platform_id } = await accountById(runtime, accountId);
  const { environment } = await platformById(runtime, platform_id);
  const moved = await operate(runtime, systemCaller(platform_id, environment), async (ctx) => {
    const row = await ctx.read(externalAccounts, id);
    if (!row || row.deleted_at !== null) throw noAccount();
    return applyTransition(ctx, row, event, reason);
  });
  return view(moved);
}
