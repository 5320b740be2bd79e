// The ledger postings of incoming payments. Funds arrive from rail in transit and are credited to an
// account. Funds under review are credited and held, so only the total balance includes them. Funds that
// are returned or forwarded pass through `inbound`.

import { type SystemAccount, systemAccount } from '../../../ledger/chart.ts';
import type { TransferVerb } from '../../../ledger/transfer.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type IncomingRow, receivedOf } from '../transactions/index.ts';

const systemAccountFor = (ctx: Ctx, row: IncomingRow, purpose: SystemAccount): string =>
  systemAccount(ctx.caller.environment, purpose, row.received_currency);

function stage(
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

/**
 * Credits the account. If the account was frozen after the read, the commit is rejected and the operation
 * runs again.
 */
export const postCredit = (ctx: Ctx, row: IncomingRow, accountId: string): void =>
  stage(ctx, row, 'transfer', 'deposit', [
    systemAccountFor(ctx, row, 'rail_in_transit'),
    accountId,
  ]);

/** Credits the account and holds the amount. `force` also credits a frozen account. */
export function creditAndHold(ctx: Ctx, row: IncomingRow, accountId: string, force: boolean): void {
  const railInTransit = systemAccountFor(ctx, row, 'rail_in_transit');
  stage(ctx, row, 'transfer', 'deposit', [railInTransit, accountId], force);
  stage(ctx, row, 'hold', 'review', [accountId, railInTransit], force);
}

/** Releases the hold, so that the amount becomes available. */
export const release = (ctx: Ctx, row: IncomingRow, accountId: string): void =>
  stage(ctx, row, 'void', 'review', [accountId, systemAccountFor(ctx, row, 'rail_in_transit')]);

/** Debits the held amount from the account. */
export const postHeld = (ctx: Ctx, row: IncomingRow, accountId: string): void =>
  stage(ctx, row, 'post', 'review', [accountId, systemAccountFor(ctx, row, 'rail_in_transit')]);

/** Posts funds to `inbound` that are returned or forwarded. */
export const postToInbound = (ctx: Ctx, row: IncomingRow): void =>
  stage(ctx, row, 'transfer', 'fund', [
    systemAccountFor(ctx, row, 'rail_in_transit'),
    systemAccountFor(ctx, row, 'inbound'),
  ]);

/** Returns funds from `inbound` to the payer. */
export const postReturn = (ctx: Ctx, row: IncomingRow): void =>
  stage(ctx, row, 'transfer', 'refund.out', [
    systemAccountFor(ctx, row, 'inbound'),
    systemAccountFor(ctx, row, 'rail_in_transit'),
  ]);

/** Posts funds from `inbound` to suspense. */
export const postToSuspense = (ctx: Ctx, row: IncomingRow): void =>
  stage(ctx, row, 'transfer', 'suspense.fund', [
    systemAccountFor(ctx, row, 'inbound'),
    systemAccountFor(ctx, row, 'suspense'),
  ]);

/** Forwards funds from `inbound` to an external account. */
export function postForward(ctx: Ctx, row: IncomingRow): void {
  const railInTransit = systemAccountFor(ctx, row, 'rail_in_transit');
  stage(ctx, row, 'transfer', 'pay', [systemAccountFor(ctx, row, 'inbound'), railInTransit]);
  stage(ctx, row, 'transfer', 'settle', [
    railInTransit,
    systemAccountFor(ctx, row, 'external_settlement'),
  ]);
}

/** Reverses a forwarded payment that the receiving bank returned. */
export function reverseForward(ctx: Ctx, row: IncomingRow): void {
  const railInTransit = systemAccountFor(ctx, row, 'rail_in_transit');
  stage(ctx, row, 'transfer', 'refund.settle', [
    systemAccountFor(ctx, row, 'external_settlement'),
    railInTransit,
  ]);
  stage(ctx, row, 'transfer', 'refund.pay', [railInTransit, systemAccountFor(ctx, row, 'inbound')]);
}
