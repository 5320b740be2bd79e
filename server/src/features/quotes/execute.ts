// Executing a quote: its payment is checked once more and started. Between two internal accounts the
// money arrives in the same commit; over a rail it is set aside and a job sends it.
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Ctx } from '../../runtime/context.ts';
import { type CustomerRow, customers } from '../customers/index.ts';
import { type ExternalAccountRow, externalAccounts } from '../external-accounts/index.ts';
import { type InternalAccountRow, internalAccounts } from '../internal-accounts/index.ts';
import { ownPlatform } from '../platform/index.ts';
import {
  payInside,
  startPayout,
  type TransactionRow,
  transactions,
} from '../transactions/index.ts';
import { aboutOwner } from './counterparty.ts';
import { checkReceiver } from './limits.ts';
import { checkReady, livingOwner } from './parties.ts';
import type { QuoteRow } from './present.ts';

const gone = (what: string) => new Fault('ACCOUNT_NOT_FOUND', `The ${what} account is gone.`);

async function usable(ctx: Ctx, id: string | null, what: string): Promise<InternalAccountRow> {
  const account = id === null ? undefined : await ctx.read(internalAccounts, id);
  if (!account) throw gone(what);
  if (account.status !== 'ACTIVE') {
    throw new Fault('INVALID_INPUT', `The ${what} account is ${account.status}.`);
  }
  return account;
}

/** The owner of an account, who must still be there when the money moves. */
async function ownerOf(ctx: Ctx, of: { customer_id: string | null }): Promise<CustomerRow | null> {
  const owner = await livingOwner(ctx, of);
  if (owner) ctx.require(customers, owner);
  return owner;
}

/** The receiver's own transaction, when somebody else receives inside the house. */
async function insertTwin(
  ctx: Ctx,
  row: TransactionRow,
  to: InternalAccountRow,
  owner: CustomerRow | null,
  payer: CustomerRow | null,
): Promise<TransactionRow> {
  // Who asks nothing about the one end asks nothing about the other: a read less on the usual way.
  const counterparty = row.counterparty && aboutOwner(await ownPlatform(ctx), to.currency, payer);
  return ctx.insert(transactions, {
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

async function targetOf(ctx: Ctx, id: string): Promise<InternalAccountRow | ExternalAccountRow> {
  if (isId(id, 'InternalAccount')) return usable(ctx, id, 'destination');
  const target = await ctx.read(externalAccounts, id);
  if (!target || target.deleted_at !== null) throw gone('destination');
  return target;
}

/**
 * Starts a pending payment from an internal account; its answer is the payment as it then stands. Who pays
 * and who receives must still be there, and able to, at the very moment the money moves.
 */
export async function startPayment(ctx: Ctx, row: TransactionRow): Promise<TransactionRow> {
  const [source, target, payer] = await Promise.all([
    usable(ctx, row.source_account, 'source'),
    targetOf(ctx, row.destination_account as string),
    ownerOf(ctx, row),
  ]);
  if (payer) checkReady(payer);
  const owner = target.customer_id === row.customer_id ? payer : await ownerOf(ctx, target);
  if ('info' in target) {
    checkReceiver(target, row.received_amount as bigint);
    ctx.require(externalAccounts, target);
    return startPayout(ctx, row);
  }
  const alone = source.customer_id === target.customer_id;
  return payInside(ctx, row, alone ? null : await insertTwin(ctx, row, target, owner, payer));
}

/** Executes a quote once, before it expires. */
export async function executePayment(
  ctx: Ctx,
  quote: QuoteRow,
  payment: TransactionRow,
): Promise<TransactionRow> {
  if (
    payment.status === 'EXPIRED' ||
    (payment.status === 'PENDING' && ctx.now >= quote.expires_at)
  ) {
    throw new Fault('QUOTE_EXPIRED', 'The quote has expired. Create a new one.');
  }
  if (payment.status !== 'PENDING') {
    throw new Fault('CONFLICT', 'The quote has been executed already.');
  }
  return startPayment(ctx, payment);
}
