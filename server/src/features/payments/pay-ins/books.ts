// What incoming money does in the ledger, one function per movement. It comes out of `clearing`; on an
// account it is credited, and set aside there again while it must not be spent, so that it shows in the
// total and not in what can be spent. What cannot stay goes through `inbound` on its way back or onward.

import { type SystemAccount, systemAccount } from '../../../ledger/chart.ts';
import type { TransferVerb } from '../../../ledger/transfer.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type IncomingRow, receivedOf } from '../transactions/index.ts';

const purse = (ctx: Ctx, row: IncomingRow, purpose: SystemAccount): string =>
  systemAccount(ctx.caller.environment, purpose, row.received_currency);

function move(
  ctx: Ctx,
  row: IncomingRow,
  verb: TransferVerb,
  step: string,
  [debit, credit]: [string, string],
  force = false,
): void {
  const money = receivedOf(row);
  ctx[verb]({ transactionId: row.id, step, debit, credit, ...money, force });
}

/** Onto the account. One that is shut by then refuses it, and the decision is made again. */
export const credit = (ctx: Ctx, row: IncomingRow, accountId: string): void =>
  move(ctx, row, 'transfer', 'deposit', [purse(ctx, row, 'rail_in_transit'), accountId]);

/** Onto the account and aside, so that it cannot be spent. `force` gets it there though it is frozen. */
export function creditAside(ctx: Ctx, row: IncomingRow, accountId: string, force: boolean): void {
  const clearing = purse(ctx, row, 'rail_in_transit');
  move(ctx, row, 'transfer', 'deposit', [clearing, accountId], force);
  move(ctx, row, 'hold', 'review', [accountId, clearing], force);
}

/** Makes what was set aside spendable. */
export const release = (ctx: Ctx, row: IncomingRow, accountId: string): void =>
  move(ctx, row, 'void', 'review', [accountId, purse(ctx, row, 'rail_in_transit')]);

/** Takes what was set aside off the account again. */
export const takeOff = (ctx: Ctx, row: IncomingRow, accountId: string): void =>
  move(ctx, row, 'post', 'review', [accountId, purse(ctx, row, 'rail_in_transit')]);

/** Into our keeping: no account can take it. */
export const keep = (ctx: Ctx, row: IncomingRow): void =>
  move(ctx, row, 'transfer', 'fund', [
    purse(ctx, row, 'rail_in_transit'),
    purse(ctx, row, 'inbound'),
  ]);

/** Out of our keeping, to whoever paid it. */
export const sendBack = (ctx: Ctx, row: IncomingRow): void =>
  move(ctx, row, 'transfer', 'refund.out', [
    purse(ctx, row, 'inbound'),
    purse(ctx, row, 'rail_in_transit'),
  ]);

/** Out of our keeping, to wait for a person. */
export const park = (ctx: Ctx, row: IncomingRow): void =>
  move(ctx, row, 'transfer', 'park.fund', [
    purse(ctx, row, 'inbound'),
    purse(ctx, row, 'suspense'),
  ]);

/** Out of our keeping and over a rail to an account outside. */
export function payOn(ctx: Ctx, row: IncomingRow): void {
  const clearing = purse(ctx, row, 'rail_in_transit');
  move(ctx, row, 'transfer', 'pay', [purse(ctx, row, 'inbound'), clearing]);
  move(ctx, row, 'transfer', 'settle', [clearing, purse(ctx, row, 'external_settlement')]);
}

/** Back into our keeping after the bank outside has sent it back. */
export function undoPayOn(ctx: Ctx, row: IncomingRow): void {
  const clearing = purse(ctx, row, 'rail_in_transit');
  move(ctx, row, 'transfer', 'refund.settle', [purse(ctx, row, 'external_settlement'), clearing]);
  move(ctx, row, 'transfer', 'refund.pay', [clearing, purse(ctx, row, 'inbound')]);
}
