// Wallets of which it is known who controls them: a custodian is named, or the owner has proved to hold the
// keys. Whoever waits for that, such as money held because it came from a wallet nobody had declared, is
// told by a job, since the features that wait come after this one.
import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { transitionExternalAccount } from './present.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

/** The job that a declared wallet leaves behind. */
export const WALLET_DECLARED = defineJob(
  'wallet.declared',
  Type.Object({
    externalAccountId: Type.String(),
    /** The last deposit that was released; absent at first. */
    after: Type.Optional(Type.String()),
  }),
);

/** Whether it is such a wallet, and usable. */
export const isDeclared = ({ info, status, proven_at, deleted_at }: ExternalAccountRow): boolean =>
  'address' in info &&
  ((info as { vaspName?: string }).vaspName !== undefined || proven_at !== null) &&
  status === 'ACTIVE' &&
  deleted_at === null;

/** To be called with the row as it is after it was created or moved. */
export function stageWalletDeclared(ctx: Ctx, row: ExternalAccountRow): void {
  if (isDeclared(row)) ctx.later(WALLET_DECLARED, { externalAccountId: row.id });
}

/** The owner has shown that the wallet is theirs. */
export function proveOwnership(ctx: Ctx, row: ExternalAccountRow): ExternalAccountRow {
  const proven = ctx.update(externalAccounts, row, { proven_at: ctx.now, updated_at: ctx.now });
  const done = row.status === 'ACTIVE' ? proven : transitionExternalAccount(ctx, proven, 'prove');
  stageWalletDeclared(ctx, done);
  return done;
}
