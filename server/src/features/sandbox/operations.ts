// Funding of accounts in the sandbox. A funded account receives a regular incoming payment: a transaction,
// its events, and a posting from the rail in transit.

import type { Static } from '@sinclair/typebox';
import { Fault } from '../../kernel/fault.ts';
import { handle } from '../../runtime/operation/handle.ts';
import {
  type InternalAccount,
  internalAccountOf,
  presentAccount,
} from '../balances/internal-accounts/index.ts';
import { checkReady } from '../customers/eligibility/index.ts';
import { customerOf } from '../customers/records/index.ts';
import { receiveDeposit } from '../payments/pay-ins/index.ts';
import { sandboxFundInternalAccount } from './contract.ts';

export const sandboxOperations = [
  handle(sandboxFundInternalAccount, async (ctx, { params, body }) => {
    const account = await internalAccountOf(ctx, params.accountId);
    if (account.status !== 'ACTIVE') {
      throw new Fault(
        'INVALID_INPUT',
        `The account is ${account.status}. Only an ACTIVE account can be funded.`,
      );
    }
    const owner = account.customer_id
      ? await customerOf(ctx, account.customer_id, { rejectDeleted: true })
      : null;
    if (owner) checkReady(owner);
    const amount = BigInt(body.amount);
    const { payerAccountIdentifier, pendingReason: hold } = body;
    const sender =
      payerAccountIdentifier === undefined ? {} : { accountIdentifier: payerAccountIdentifier };
    const origin = { accountHolderName: 'Sandbox funding', ...sender };
    await receiveDeposit(ctx, { account, owner, amount, origin, hold });
    const repaidAmount = hold ? 0n : account.owed < amount ? account.owed : amount;
    // Read before the commit. Concurrent postings are visible in the next read.
    const addedAmounts = { balance: amount - repaidAmount, held: hold ? amount : 0n };
    const accountAfter = await presentAccount(ctx, account, addedAmounts);
    return { status: 200, body: accountAfter as Static<typeof InternalAccount> };
  }),
];
