// Starting a payment: it is checked once more, and its money taken. Between two internal accounts the money
// arrives in the same commit; over a rail it is set aside and a job sends it; from an external account a job
// pulls it first. Money that somebody pays in starts the payment by itself when it arrives (funding.ts).

import { defineJob } from '../../../../kernel/contract/job.ts';
import { Fault } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
} from '../../../balances/internal-accounts/index.ts';
import { checkNoShortfall } from '../../../balances/shortfalls/index.ts';
import { countPayment, hasPaymentRoom } from '../../../balances/velocity-limits/index.ts';
import { checkReady } from '../../../customers/eligibility/index.ts';
import { type CustomerRow, requireCustomer } from '../../../customers/records/index.ts';
import {
  type ExternalAccountRow,
  readExternalAccount,
  requireExternalAccount,
} from '../../../payees/external-accounts/index.ts';
import { ownPlatform } from '../../../tenancy/platform/index.ts';
import { awaitFunds, payInternal, type ReceivedFunds, startPayout } from '../../lifecycle/index.ts';
import { RailTransferInput } from '../../payouts/index.ts';
import { aboutOwner, activeOwner, checkReceiver } from '../../pricing/index.ts';
import {
  debitedOf,
  type IncomingRow,
  insertTransaction,
  type OutgoingRow,
} from '../../transactions/index.ts';
import type { QuoteRow } from '../store.ts';
import { checkInvoice, takeInvoice } from './invoice.ts';

/** The job that pulls the money of a payment. */
export const SEND_PULL = defineJob('funding.send', RailTransferInput);

const gone = (what: string) =>
  new Fault('ACCOUNT_NOT_FOUND', `The ${what} account no longer exists.`);

async function usable(ctx: Ctx, id: string | null, what: string): Promise<InternalAccountRow> {
  const account = id === null ? undefined : await readInternalAccount(ctx, id);
  if (!account) throw gone(what);
  if (account.status !== 'ACTIVE') {
    throw new Fault(
      'INVALID_INPUT',
      `The ${what} account is ${account.status}; it must be ACTIVE.`,
    );
  }
  return account;
}

async function registered(ctx: Ctx, id: string, what: string): Promise<ExternalAccountRow> {
  const account = await readExternalAccount(ctx, id);
  if (!account || account.deleted_at !== null) throw gone(what);
  return account;
}

/** What a payment is about to go through: who pays, and where it ends. */
interface Ends {
  payer: CustomerRow | null;
  /** Absent when money comes from outside. */
  source: InternalAccountRow | undefined;
  /** Absent when the receiver is with another UMA provider. */
  target: InternalAccountRow | ExternalAccountRow | undefined;
  /** The customer who owns an internal target. */
  owner: CustomerRow | null;
}

async function sourceOf(ctx: Ctx, row: OutgoingRow): Promise<InternalAccountRow | undefined> {
  const id = row.source_account;
  if (id === null) return undefined;
  if (isId(id, 'InternalAccount')) return usable(ctx, id, 'source');
  // While the money is being pulled the account may be forgotten; before that it must be there.
  if (row.status === 'PROCESSING') return undefined;
  requireExternalAccount(ctx, await registered(ctx, id, 'source'));
  return undefined;
}

async function targetOf(ctx: Ctx, row: OutgoingRow): Promise<Ends['target']> {
  const id = row.destination_account;
  if (row.rail_payload) return undefined;
  return isId(id, 'InternalAccount')
    ? usable(ctx, id, 'destination')
    : registered(ctx, id, 'destination');
}

/**
 * Throws why a payment cannot be made now. Who pays and who receives must still be there, and able to; that
 * accounts inside are open is judged once more by the commit itself. One that `starts` has an invoice to
 * itself from then on; one that waits for a proof holds nothing, so that nobody blocks what others pay.
 */
export async function checkEnds(
  ctx: Ctx,
  row: OutgoingRow,
  { starts = true }: { starts?: boolean } = {},
): Promise<Ends> {
  const [source, target, payer] = await Promise.all([
    sourceOf(ctx, row),
    targetOf(ctx, row),
    activeOwner(ctx, row),
  ]);
  if (payer) checkReady(payer);
  if (source) checkNoShortfall(source);
  if (row.platform_fee_account) await usable(ctx, row.platform_fee_account, "platform's fee");
  const same = !target || target.customer_id === row.customer_id;
  const owner = same ? payer : await activeOwner(ctx, target);
  if (target && 'info' in target) {
    const amount = row.received_amount;
    checkReceiver(target, row.needs_proof === true);
    if (starts) await takeInvoice(ctx, target, { id: row.id, amount });
    else await checkInvoice(ctx, target, amount);
    requireExternalAccount(ctx, target);
    // An account outside is not shut when its owner is deleted.
    if (owner) requireCustomer(ctx, owner);
  }
  return { payer, source, target, owner };
}

/** The receiver's own transaction, when somebody else receives inside the house. */
async function insertCounterparty(
  ctx: Ctx,
  row: OutgoingRow,
  to: InternalAccountRow,
  { owner, payer }: Ends,
): Promise<IncomingRow> {
  // Who asks nothing about the one end asks nothing about the other: a read less on the usual way.
  const counterparty =
    row.counterparty && aboutOwner(ctx.vault, await ownPlatform(ctx), to.currency, payer);
  return insertTransaction(ctx, {
    id: ctx.id('Transaction'),
    platform_id: row.platform_id,
    customer_id: to.customer_id,
    platform_customer_id: owner?.platform_customer_id ?? row.platform_id,
    type: 'INCOMING',
    direction: 'CREDIT',
    status: 'COMPLETED',
    funds: 'SETTLED',
    source: row.source,
    destination: row.destination,
    source_account: row.source_account,
    destination_account: row.destination_account,
    sent_amount: row.sent_amount,
    sent_currency: row.sent_currency,
    received_amount: row.received_amount,
    received_currency: row.received_currency,
    exchange_rate: row.exchange_rate,
    quote_id: row.quote_id,
    description: row.description,
    counterparty,
    settled_at: ctx.now,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** Makes a payment whose money is here: on the source account, or `came` in for it. */
export async function makePayment(
  ctx: Ctx,
  row: OutgoingRow,
  ends: Ends,
  came?: ReceivedFunds,
): Promise<OutgoingRow> {
  const { source, target } = ends;
  if (!target || 'info' in target) return startPayout(ctx, row, came);
  const payerId = source ? source.customer_id : row.customer_id;
  const alone = payerId === target.customer_id;
  const twin = alone ? null : await insertCounterparty(ctx, row, target, ends);
  return payInternal(ctx, row, { target, twin }, came);
}

const volumeOf = (row: OutgoingRow) => ({
  sending: debitedOf(row),
  to: row.received_currency,
  payerId: row.customer_id,
});

/** Counts a payment toward what its platform may send today and how often its customer may pay now. */
export async function countVolume(
  ctx: Ctx,
  row: OutgoingRow,
  retryOnInsufficientFunds = false,
): Promise<void> {
  const counted = { transactionId: row.id, retryOnInsufficientFunds, ...volumeOf(row) };
  await countPayment(ctx, await ownPlatform(ctx), counted);
}

/** Whether the platform may send that much more today, and its customer pay once more now. */
export const hasRoom = async (ctx: Ctx, row: OutgoingRow): Promise<boolean> =>
  hasPaymentRoom(ctx, await ownPlatform(ctx), volumeOf(row));

/** Throws where a wallet would pay and its holder has not signed. */
export function checkSigned({ source }: Ends, signed: boolean): void {
  if (source?.type !== 'EMBEDDED_WALLET' || signed) return;
  throw new Fault(
    'WALLET_SIGNATURE_MISSING',
    'The payment requires the signature of the wallet holder.',
  );
}

/**
 * Starts a payment that is pending, or has just been authorised; its answer is the payment as it then
 * stands. Nothing leaves a wallet unless its holder `signed` for it.
 */
export async function startPayment(
  ctx: Ctx,
  row: OutgoingRow,
  { signed = false }: { signed?: boolean } = {},
): Promise<OutgoingRow> {
  const ends = await checkEnds(ctx, row);
  checkSigned(ends, signed);
  await countVolume(ctx, row);
  if (ends.source) return makePayment(ctx, row, ends);
  ctx.later(SEND_PULL, { transactionId: row.id });
  return awaitFunds(ctx, row);
}

/** Throws where a quote cannot be executed, or no more: that is once, before it expires. */
export function checkExecutable(
  ctx: Ctx,
  quote: Pick<QuoteRow, 'expires_at'>,
  payment: OutgoingRow,
): void {
  if (payment.source.sourceType === 'REALTIME_FUNDING') {
    const why = 'A REALTIME_FUNDING quote executes automatically when its funds arrive.';
    throw new Fault('INVALID_INPUT', why);
  }
  if (
    payment.status === 'EXPIRED' ||
    (payment.status === 'PENDING' && ctx.now >= quote.expires_at)
  ) {
    throw new Fault('QUOTE_EXPIRED', 'The quote has expired. Create a new one.');
  }
  if (payment.status === 'PENDING_AUTHORIZATION') {
    throw new Fault('CONFLICT', 'The quote is waiting for authorization. Call authorizeQuote.');
  }
  if (payment.status !== 'PENDING') {
    throw new Fault('CONFLICT', 'The quote was already executed or has failed.');
  }
}
