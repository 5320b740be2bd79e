// Checks a payment again and starts it. A payment between internal accounts completes in the same commit.
// For a payment over a rail, the funds are held and a job sends them, after the debit of an external
// source account. A REALTIME_FUNDING payment starts when its funds arrive (funding.ts).

import { hasFirmRate } from '../../../../catalog/currencies/rate-details.ts';
import { defineJob } from '../../../../kernel/contract/job.ts';
import { Fault } from '../../../../kernel/fault.ts';
import { isId } from '../../../../kernel/id.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
} from '../../../balances/internal-accounts/index.ts';
import { checkNoShortfall } from '../../../balances/shortfalls/index.ts';
import { countPayment, isWithinPaymentLimits } from '../../../balances/velocity-limits/index.ts';
import { checkReady } from '../../../customers/eligibility/index.ts';
import { type CustomerRow, requireCustomer } from '../../../customers/records/index.ts';
import {
  type ExternalAccountRow,
  readExternalAccount,
  requireExternalAccount,
} from '../../../payees/external-accounts/index.ts';
import { readOwnPlatform } from '../../../tenancy/platform/index.ts';
import { awaitFunds, payInternal, type ReceivedFunds, startPayout } from '../../lifecycle/index.ts';
import { RailTransferInput } from '../../payouts/index.ts';
import { checkReceiver, ownerInformation, requireActiveOwner } from '../../pricing/index.ts';
import {
  debitedOf,
  type IncomingRow,
  insertTransaction,
  type OutgoingRow,
} from '../../transactions/index.ts';
import { REDEEM } from '../firm-quotes.ts';
import type { QuoteRow } from '../store.ts';
import { checkInvoice, reserveInvoice } from './invoice.ts';

export const SEND_FUNDING_DEBIT = defineJob('funding.send', RailTransferInput);

const missingAccountFault = (role: string) =>
  new Fault(
    'ACCOUNT_NOT_FOUND',
    `The ${role} account no longer exists. Create a payment with another account.`,
  );

async function requireUsableAccount(
  ctx: Ctx,
  id: string | null,
  role: string,
): Promise<InternalAccountRow> {
  const account = id === null ? undefined : await readInternalAccount(ctx, id);
  if (!account) throw missingAccountFault(role);
  if (account.status !== 'ACTIVE') {
    throw new Fault(
      'INVALID_INPUT',
      `The ${role} account is ${account.status}. It must be ACTIVE.`,
    );
  }
  return account;
}

async function requireRegisteredAccount(
  ctx: Ctx,
  id: string,
  role: string,
): Promise<ExternalAccountRow> {
  const account = await readExternalAccount(ctx, id);
  if (!account || account.deleted_at !== null) throw missingAccountFault(role);
  return account;
}

/** The parties and accounts of a payment at its start. */
interface Parties {
  payer: CustomerRow | null;
  /** Undefined for external funds. */
  source: InternalAccountRow | undefined;
  /** Undefined for a receiver at another UMA provider. */
  target: InternalAccountRow | ExternalAccountRow | undefined;
  /** Owner of the target account, or null for the platform. */
  owner: CustomerRow | null;
}

async function sourceOf(ctx: Ctx, row: OutgoingRow): Promise<InternalAccountRow | undefined> {
  const id = row.source_account;
  if (id === null) return undefined;
  if (isId(id, 'InternalAccount')) return requireUsableAccount(ctx, id, 'source');
  // The account must exist until the debit starts. It can be deleted afterwards.
  if (row.status === 'PROCESSING') return undefined;
  requireExternalAccount(ctx, await requireRegisteredAccount(ctx, id, 'source'));
  return undefined;
}

async function targetOf(ctx: Ctx, row: OutgoingRow): Promise<Parties['target']> {
  const id = row.destination_account;
  if (row.rail_payload) return undefined;
  return isId(id, 'InternalAccount')
    ? requireUsableAccount(ctx, id, 'destination')
    : requireRegisteredAccount(ctx, id, 'destination');
}

/**
 * Throws if the payment cannot start now. Payer and receiver must exist and be eligible. The commit checks
 * again that internal accounts are not frozen. With `reservesInvoice` an invoice is reserved. A payment
 * that awaits authorization reserves no invoice, so it cannot block other payments.
 */
export async function checkParties(
  ctx: Ctx,
  row: OutgoingRow,
  { reservesInvoice = true }: { reservesInvoice?: boolean } = {},
): Promise<Parties> {
  const [source, target, payer] = await Promise.all([
    sourceOf(ctx, row),
    targetOf(ctx, row),
    requireActiveOwner(ctx, row),
  ]);
  if (payer) checkReady(payer);
  if (source) checkNoShortfall(source);
  if (row.platform_fee_account)
    await requireUsableAccount(ctx, row.platform_fee_account, "platform's fee");
  const isSameOwner = !target || target.customer_id === row.customer_id;
  const owner = isSameOwner ? payer : await requireActiveOwner(ctx, target);
  if (target && 'info' in target) {
    const amount = row.received_amount;
    checkReceiver(target, row.needs_proof === true);
    if (reservesInvoice) await reserveInvoice(ctx, target, { id: row.id, amount });
    else await checkInvoice(ctx, target, amount);
    requireExternalAccount(ctx, target);
    // External accounts are not frozen when their owner is deleted.
    if (owner) requireCustomer(ctx, owner);
  }
  return { payer, source, target, owner };
}

/** The counterparty transaction of an internal payment to another owner. */
async function insertCounterparty(
  ctx: Ctx,
  row: OutgoingRow,
  to: InternalAccountRow,
  { owner, payer }: Parties,
): Promise<IncomingRow> {
  // A platform that requires no information about receivers requires none about senders, so the read is
  // omitted.
  const counterparty =
    row.counterparty && ownerInformation(ctx.vault, await readOwnPlatform(ctx), to.currency, payer);
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

/** Executes a payment whose funds are available on the source account, or were received as `funds`. */
export async function createPayment(
  ctx: Ctx,
  row: OutgoingRow,
  parties: Parties,
  funds?: ReceivedFunds,
): Promise<OutgoingRow> {
  const { source, target } = parties;
  if (hasFirmRate(row.rate_details)) ctx.later(REDEEM, { transactionId: row.id });
  if (!target || 'info' in target) return startPayout(ctx, row, funds);
  const payerId = source ? source.customer_id : row.customer_id;
  const isSameOwner = payerId === target.customer_id;
  const incoming = isSameOwner ? null : await insertCounterparty(ctx, row, target, parties);
  return payInternal(ctx, row, { source, target, incoming }, funds);
}

const limitedPaymentOf = (row: OutgoingRow) => ({
  sending: debitedOf(row),
  to: row.received_currency,
  payerId: row.customer_id,
});

/** Counts a payment toward the daily limit of its platform and the hourly limit of its customer. */
export async function countVelocity(
  ctx: Ctx,
  row: OutgoingRow,
  retryOnInsufficientFunds = false,
): Promise<void> {
  const countedPayment = {
    transactionId: row.id,
    retryOnInsufficientFunds,
    ...limitedPaymentOf(row),
  };
  await countPayment(ctx, await readOwnPlatform(ctx), countedPayment);
}

/** Whether the daily limit of the platform and the hourly limit of the customer allow the payment now. */
export const isWithinLimits = async (ctx: Ctx, row: OutgoingRow): Promise<boolean> =>
  isWithinPaymentLimits(ctx, await readOwnPlatform(ctx), limitedPaymentOf(row));

/** Throws if the source is a wallet and its holder has not signed. */
export function checkSigned({ source }: Parties, signed: boolean): void {
  if (source?.type !== 'EMBEDDED_WALLET' || signed) return;
  throw new Fault(
    'WALLET_SIGNATURE_MISSING',
    'The payment requires the signature of the wallet holder. Send the signature of the ' +
      'payloadToSign of the quote.',
  );
}

/** Starts a pending or just authorized payment. A wallet is debited only if its holder `signed`. */
export async function startPayment(
  ctx: Ctx,
  row: OutgoingRow,
  { signed = false }: { signed?: boolean } = {},
): Promise<OutgoingRow> {
  const parties = await checkParties(ctx, row);
  checkSigned(parties, signed);
  await countVelocity(ctx, row);
  if (parties.source) return createPayment(ctx, row, parties);
  ctx.later(SEND_FUNDING_DEBIT, { transactionId: row.id });
  return awaitFunds(ctx, row);
}

/** Throws if the quote cannot be executed. A quote executes once, before its expiry. */
export function checkExecutable(
  ctx: Ctx,
  quote: Pick<QuoteRow, 'expires_at'>,
  payment: OutgoingRow,
): void {
  if (payment.source.sourceType === 'REALTIME_FUNDING') {
    const reason = 'A REALTIME_FUNDING quote executes automatically when its funds arrive.';
    throw new Fault('INVALID_INPUT', reason);
  }
  if (
    payment.status === 'EXPIRED' ||
    (payment.status === 'PENDING' && ctx.now >= quote.expires_at)
  ) {
    throw new Fault('QUOTE_EXPIRED', 'The quote has expired. Create a new quote.');
  }
  if (payment.status === 'PENDING_AUTHORIZATION') {
    throw new Fault('CONFLICT', 'The quote is waiting for authorization. Call authorizeQuote.');
  }
  if (payment.status !== 'PENDING') {
    throw new Fault(
      'CONFLICT',
      'The quote was already executed or has failed. Call getQuoteById for its status.',
    );
  }
}
