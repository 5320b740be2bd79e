// Taking money in, in one currency: from an account outside that may be pulled from, onto an account here
// of the same owner. An older, shorter way than a quote, kept because clients use it.

import { type Static, Type } from '@sinclair/typebox';
import { corridors } from '../../../catalog/currencies/corridors.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import { isLess, type Money } from '../../../kernel/money.ts';
import { described, named, PositiveAmount } from '../../../kernel/schema.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { requireExternalAccount } from '../../payees/external-accounts/index.ts';
import { checkAmount, checkDirection } from '../../tenancy/config/index.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';
import { stagePull, startPull } from '../pay-ins/index.ts';
import { presentTransaction, TransactionOneOf } from '../presentation/index.ts';
import { checkPullable, type Payee, type Payer, payeeOf, payerOf } from '../pricing/index.ts';
import { type IncomingRow, sourceAccountOf } from '../transactions/index.ts';
import { InternalAccountReference, type TransferParts } from './contract.ts';

export const createTransferIn = operation({
  operationId: 'createTransferIn',
  method: 'POST',
  path: '/transfer-in',
  tag: 'Same-Currency Transfers',
  summary: 'Create an incoming same-currency transfer',
  description:
    'Debits an external account and credits an internal account of the same ' +
    'currency and owner. The external account must support debits (USD_ACCOUNT ' +
    'over ACH); for others, pay in by the `fundingPaymentInstructions` of the ' +
    'internal account. The transaction is returned as PENDING and the balance is ' +
    'credited when the debit settles. Deprecated: use `createQuote`.',
  permission: 'TRANSACT',
  deprecated: true,
  body: named(
    'TransferInRequest',
    Type.Object(
      {
        source: named(
          'ExternalAccountReference',
          Type.Object(
            {
              accountId: Type.String({ description: 'Id of the external account to debit.' }),
            },
            { description: 'Reference to an external account.' },
          ),
        ),
        destination: InternalAccountReference,
        amount: Type.Optional(
          described(
            PositiveAmount,
            'Amount to debit, in minor units of the account currency. Required.',
          ),
        ),
      },
      { description: 'Incoming transfer to create.' },
    ),
  ),
  // The published schema leaves it optional, and a transfer of nothing is none.
  bodyRules: (body) =>
    (body as { amount?: unknown } | null)?.amount === undefined
      ? [{ field: 'amount', message: 'is required' }]
      : [],
  replies: { 201: TransactionOneOf },
  errors: [
    'AMOUNT_OUT_OF_RANGE',
    'INVALID_CURRENCY',
    'INVALID_BANK_ACCOUNT',
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    'USER_NOT_READY',
    'ACCOUNT_NOT_FOUND',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'CUSTOMER_DELETED',
  ],
  money: true,
});

type Ends = { payer: Payer & { kind: 'pull' }; payee: Payee & { kind: 'internal' } };

function endsOf(payer: Payer, payee: Payee): Ends {
  if (payer.kind !== 'pull') {
    throw invalidField('source.accountId', 'must be an external account');
  }
  if (payee.kind !== 'internal') {
    throw invalidField('destination.accountId', 'must be an internal account');
  }
  if (payer.account.customer_id !== payee.account.customer_id) {
    throw invalidField('destination.accountId', 'must have the same owner as the source account');
  }
  if (payer.currency !== payee.currency) {
    throw new Fault(
      'INVALID_CURRENCY',
      `The destination account is denominated in ${payee.currency}.`,
    );
  }
  return { payer, payee };
}

/** Throws why this much may not be taken in over that rail. */
function admit(platform: PlatformRow, rail: string, money: Money): void {
  const { currency } = money;
  checkDirection(platform, currency, 'INCOMING');
  checkAmount(platform, money);
  const way = corridors(currency, currency).find((each) => each.rail === rail);
  if (way && isLess({ currency, amount: way.maxSending }, money)) {
    const reason = 'The amount is above the maximum for one debit.';
    throw new Fault('TRANSACTION_SIZE_LIMIT_EXCEEDED', reason, { max: Number(way.maxSending) });
  }
}

type Request = Static<(typeof createTransferIn)['body']>;

interface Wanted {
  from: string;
  to: string;
  amount: bigint;
}

/** Where the money comes from and goes to, able to, and the rail that may take this much. */
async function found(ctx: Ctx, { connectors }: TransferParts, { from, to, amount }: Wanted) {
  const platform = await ownPlatform(ctx);
  const port = connectors(ctx.caller.environment).rail;
  const [payer, payee] = await allInOrder([
    payerOf(ctx, platform, { accountId: from }, port),
    payeeOf(ctx, { accountId: to }, port),
  ]);
  const ends = endsOf(payer, payee);
  const rail = checkPullable(ends.payer.account, port);
  requireExternalAccount(ctx, ends.payer.account);
  admit(platform, rail, { currency: ends.payee.currency, amount });
  return { rail, ...ends };
}

/** Stages the transaction of a transfer that may be made. It waits as PENDING, and nobody is told of it. */
export async function stageTransferIn(
  ctx: Ctx,
  parts: TransferParts,
  { source, destination, amount: asked }: Request,
): Promise<IncomingRow> {
  const amount = BigInt(asked as number);
  const wanted = { from: source.accountId, to: destination.accountId, amount };
  const { payer, payee, rail } = await found(ctx, parts, wanted);
  return stagePull(ctx, {
    source: payer.account,
    account: payee.account,
    platformCustomerId: payee.owner?.platform_customer_id ?? ctx.caller.platformId,
    rail,
    amount,
  });
}

/** Has it pulled, if that may still be: it may have waited for long. */
export async function startTransferIn(
  ctx: Ctx,
  parts: TransferParts,
  row: IncomingRow,
): Promise<IncomingRow> {
  await found(ctx, parts, {
    from: sourceAccountOf(row),
    to: row.destination_account,
    amount: row.received_amount,
  });
  return startPull(ctx, row);
}

export const transferInOperations = (parts: TransferParts) => [
  handle(createTransferIn, async (ctx, { body }) => {
    const row = startPull(ctx, await stageTransferIn(ctx, parts, body));
    return { status: 201, body: presentTransaction(row) as Static<typeof TransactionOneOf> };
  }),
];
