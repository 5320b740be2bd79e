// The sandbox's own operations. A funded account sees an incoming payment like any other: a transaction,
// its events, and money that comes out of the clearing account.
import type { Static } from '@sinclair/typebox';
import { Fault } from '../../kernel/fault.ts';
import { house } from '../../ledger/chart.ts';
import { handle } from '../../runtime/handle.ts';
import { customerOf, customers } from '../customers/index.ts';
import {
  balancesOf,
  emitBalance,
  type InternalAccount,
  internalAccountOf,
  presentInternalAccount,
} from '../internal-accounts/index.ts';
import { presentTransaction, transactions } from '../transactions/index.ts';
import { sandboxFundInternalAccount } from './contract.ts';

export const sandboxOperations = [
  handle(sandboxFundInternalAccount, async (ctx, { params, body }) => {
    const account = await internalAccountOf(ctx, params.accountId);
    if (account.status !== 'ACTIVE') {
      throw new Fault('INVALID_INPUT', `The account is ${account.status}.`);
    }
    const owner = account.customer_id
      ? await customerOf(ctx, account.customer_id, { alive: true })
      : null;
    // Nobody may be paid who is being deleted.
    if (owner) ctx.require(customers, owner);
    const amount = BigInt(body.amount);
    const { currency } = account;
    const deposit = ctx.insert(transactions, {
      id: ctx.id('Transaction'),
      platform_id: account.platform_id,
      customer_id: account.customer_id,
      platform_customer_id: owner?.platform_customer_id ?? account.platform_id,
      type: 'INCOMING',
      direction: 'CREDIT',
      status: 'COMPLETED',
      funds: 'SETTLED',
      source: {
        sourceType: 'REALTIME_FUNDING',
        currency,
        accountHolderName: 'Sandbox funding',
      },
      destination: { destinationType: 'ACCOUNT', accountId: account.id, currency },
      destination_account: account.id,
      received_amount: amount,
      received_currency: currency,
      settled_at: ctx.now,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    ctx.move('posted', {
      transactionId: deposit.id,
      step: 'deposit',
      debit: house(ctx.caller.environment, 'clearing', currency),
      credit: account.id,
      currency,
      amount,
    });
    ctx.emit('INCOMING_PAYMENT.COMPLETED', deposit.id, presentTransaction(deposit));
    emitBalance(ctx, account);
    const { balance, held } = (await balancesOf(ctx, [account.id]))(account.id);
    // Read before the commit: what others move in the same instant shows in the next read.
    const after = presentInternalAccount(account, { balance: balance + amount, held });
    return { status: 200, body: after as Static<typeof InternalAccount> };
  }),
];
