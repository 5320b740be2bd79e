// Declared wallets: the custodian is known, or the owner has proved control of the keys. A job
// releases the deposits that were held for an undeclared wallet, because this feature cannot import
// deposits.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { transitionExternalAccount } from './present.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

/** Releases deposits after a declaration. */
export const WALLET_DECLARED = defineJob(
  'wallet.declared',
  Type.Object({
    externalAccountId: Type.String(),
    /** ID of the last deposit of the previous batch. Absent in the first job. */
    after: Type.Optional(Type.String()),
  }),
);

/** Whether the wallet is declared and ACTIVE. */
export const isDeclared = ({ info, status, proven_at, deleted_at }: ExternalAccountRow): boolean =>
  'address' in info &&
  ((info as { vaspName?: string }).vaspName !== undefined || proven_at !== null) &&
  status === 'ACTIVE' &&
  deleted_at === null;

/**
 * Stages the release of deposits if the wallet is declared. `row` is the account after its change.
 */
export function stageWalletDeclared(ctx: Ctx, row: ExternalAccountRow): void {
  if (isDeclared(row)) ctx.later(WALLET_DECLARED, { externalAccountId: row.id });
}

/** Records a proof of ownership. An account that is not ACTIVE becomes ACTIVE. */
export function proveOwnership(ctx: Ctx, row: ExternalAccountRow): ExternalAccountRow {
  const provenAccount = ctx.update(externalAccounts, row, {
    proven_at: ctx.now,
    updated_at: ctx.now,
  });
  const updatedAccount =
    row.status === 'ACTIVE'
      ? provenAccount
      : transitionExternalAccount(ctx, provenAccount, 'prove');
  stageWalletDeclared(ctx, updatedAccount);
  return updatedAccount;
}
