// Incoming same-currency transfers: a debit from an external account to an internal account of the same
// owner. Deprecated in favor of quotes and supported because clients use them.

import { type Static, Type } from '@sinclair/typebox';
import { corridors } from '../../../catalog/currencies/corridors.ts';
import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import { isLess, type Money } from '../../../kernel/money.ts';
import { named, PositiveAmount, withDescription } from '../../../kernel/schema.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { requireExternalAccount } from '../../payees/external-accounts/index.ts';
import { checkAmount, checkDirection } from '../../tenancy/config/index.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
import { stageDebit, startDebit } from '../pay-ins/index.ts';
import { presentTransaction, TransactionOneOf } from '../presentation/index.ts';
import { checkDebitable, type Payee, type Payer, payeeOf, payerOf } from '../pricing/index.ts';
import { type IncomingRow, sourceAccountOf } from '../transactions/index.ts';
import { InternalAccountReference, type TransferDeps } from './contract.ts';

export const createTransferIn = operation({
  operationId: 'createTransferIn',
  method: 'POST',
  path: '/transfer-in',
  tag: 'Same-Currency Transfers',
  summary: 'Create an incoming same-currency transfer',
  description:
    'Debits an external account and credits an internal account of the same ' +
    'currency and owner. The external account must support debits (USD_ACCOUNT ' +
    'over ACH). For other accounts, use the `fundingPaymentInstructions` of the ' +
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
              accountId: Type.String({ description: 'ID of the external account to debit.' }),
            },
            { description: 'Reference to an external account.' },
          ),
        ),
        destination: InternalAccountReference,
        amount: Type.Optional(
          withDescription(
            PositiveAmount,
            'Amount to debit, in minor units of the account currency. Required.',
          ),
        ),
      },
      { description: 'Incoming transfer to create.' },
    ),
  ),
  // `amount` is optional in the published schema but required by a transfer.
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
    'END_USER_TERMS_NOT_ACCEPTED',
    'ACCOUNT_NOT_FOUND',
    'BANK_ACCOUNT_VALIDATION_PENDING',
    'CUSTOMER_DELETED',
  ],
  money: true,
});

type Parties = { payer: Payer & { kind: 'debit' }; payee: Payee & { kind: 'internal' } };

const externalDestinationFault = () =>
  invalidField('destination.accountId', 'must be an internal account');

function partiesOf(payer: Payer, payee: Payee): Parties {
  if (payer.kind !== 'debit') {
    throw invalidField('source.accountId', 'must be an external account');
  }
  if (payee.kind !== 'internal') throw externalDestinationFault();
  if (payer.account.customer_id !== payee.account.customer_id) {
    throw invalidField('destination.accountId', 'must have the same owner as the source account');
  }
  if (payer.currency !== payee.currency) {
    throw new Fault(
      'INVALID_CURRENCY',
      `The destination account is denominated in ${payee.currency}, not ${payer.currency}.`,
    );
  }
  return { payer, payee };
}

/** Throws if the platform does not allow the amount, or if it exceeds the maximum of the rail. */
function checkLimits(platform: PlatformRow, rail: string, money: Money): void {
  const { currency } = money;
  checkDirection(platform, currency, 'INCOMING');
  checkAmount(platform, money);
  const corridor = corridors(currency, currency).find((each) => each.rail === rail);
  if (corridor && isLess({ currency, amount: corridor.maxSending }, money)) {
    const max = formatMoney({ currency, amount: corridor.maxSending });
    const reason = `The amount exceeds the maximum of ${max} for one debit.`;
    throw new Fault('TRANSACTION_SIZE_LIMIT_EXCEEDED', reason, {
      max: Number(corridor.maxSending),
    });
  }
}

type Request = Static<(typeof createTransferIn)['body']>;

interface TransferInput {
  from: string;
  to: string;
  amount: bigint;
}

/** The parties and the rail of a transfer. Throws if the transfer is not admissible. */
async function resolve(
  ctx: Ctx,
  { connectors }: TransferDeps,
  { from, to, amount }: TransferInput,
) {
  const platform = await readOwnPlatform(ctx);
  const port = connectors(ctx.caller.environment).rail;
  // `payeeOf` requires a rail for an external account. This check throws the exact error first.
  if (isId(to, 'ExternalAccount')) throw externalDestinationFault();
  const [payer, payee] = await allInOrder([
    payerOf(ctx, platform, { accountId: from }, port),
    payeeOf(ctx, { accountId: to }, port),
  ]);
  const parties = partiesOf(payer, payee);
  const rail = checkDebitable(parties.payer.account, port);
  requireExternalAccount(ctx, parties.payer.account);
  checkLimits(platform, rail, { currency: parties.payee.currency, amount });
  return { rail, ...parties };
}

/** Stages the transaction of an admissible transfer, as PENDING. No event is emitted. */
export async function stageTransferIn(
  ctx: Ctx,
  deps: TransferDeps,
  request: Request,
): Promise<IncomingRow> {
  const { source, destination } = request;
  const amount = BigInt(request.amount as number);
  const input = { from: source.accountId, to: destination.accountId, amount };
  const { payer, payee, rail } = await resolve(ctx, deps, input);
  return stageDebit(ctx, {
    source: payer.account,
    account: payee.account,
    platformCustomerId: payee.owner?.platform_customer_id ?? ctx.caller.platformId,
    rail,
    amount,
  });
}

/** Starts the debit. The transfer is checked again, because it may have waited for approval. */
export async function startTransferIn(
  ctx: Ctx,
  deps: TransferDeps,
  row: IncomingRow,
): Promise<IncomingRow> {
  await resolve(ctx, deps, {
    from: sourceAccountOf(row),
    to: row.destination_account,
    amount: row.received_amount,
  });
  return startDebit(ctx, row);
}

export const transferInOperations = (deps: TransferDeps) => [
  handle(createTransferIn, async (ctx, { body }) => {
    const row = startDebit(ctx, await stageTransferIn(ctx, deps, body));
    return { status: 201, body: presentTransaction(row) as Static<typeof TransactionOneOf> };
  }),
];
