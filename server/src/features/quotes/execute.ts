// Executing a quote: its payment is checked once more and started. Between two internal accounts the
// money arrives in the same commit; over a rail it is set aside and a job sends it.
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import type { Ctx } from '../../runtime/context.ts';
import { customers } from '../customers/index.ts';
import { externalAccounts } from '../external-accounts/index.ts';
import { type InternalAccountRow, internalAccounts } from '../internal-accounts/index.ts';
import {
  payInside,
  startPayout,
  type TransactionRow,
  transactions,
} from '../transactions/index.ts';
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

/** The receiver's own transaction, when somebody else receives inside the house. */
async function insertTwin(
  ctx: Ctx,
  row: TransactionRow,
  from: InternalAccountRow,
  to: InternalAccountRow,
): Promise<TransactionRow | null> {
  if (from.customer_id === to.customer_id) return null;
  const owner = to.customer_id ? await ctx.read(customers, to.customer_id) : null;
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
    settled_at: ctx.now,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

/** Starts a pending payment from an internal account; its answer is the payment as it then stands. */
export async function startPayment(ctx: Ctx, row: TransactionRow): Promise<TransactionRow> {
  const to = row.destination_account as string;
  if (isId(to, 'InternalAccount')) {
    const [source, target] = await Promise.all([
      usable(ctx, row.source_account, 'source'),
      usable(ctx, to, 'destination'),
    ]);
    return payInside(ctx, row, await insertTwin(ctx, row, source, target));
  }
  const [, target] = await Promise.all([
    usable(ctx, row.source_account, 'source'),
    ctx.read(externalAccounts, to),
  ]);
  if (!target || target.deleted_at !== null) throw gone('destination');
  if (target.status !== 'ACTIVE') {
    throw new Fault('INVALID_RECEIVER', `The destination account is ${target.status}.`);
  }
  ctx.require(externalAccounts, target);
  return startPayout(ctx, row);
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
