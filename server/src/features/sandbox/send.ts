// Simulated funding of a quote, processed like a real deposit with the reference of the quote. Wrong amounts
// and late deposits are included.

import { type Static, Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { named } from '../../kernel/schema.ts';
import { handle } from '../../runtime/operation/handle.ts';
import { presentTransaction, TransactionOneOf } from '../payments/presentation/index.ts';
import { readQuote, receiveFunds } from '../payments/quotes/index.ts';

const sandboxSend = operation({
  operationId: 'sandboxSend',
  method: 'POST',
  path: '/sandbox/send',
  tag: 'Sandbox',
  summary: 'Simulate funding a quote',
  description:
    'Simulates the incoming payment that funds a quote with a REALTIME_FUNDING source. If ' +
    'amount and currency match the payment instructions, the quote is executed. With any other ' +
    'amount the payment fails, and the amount is returned to the payer. Funds for an expired or ' +
    'executed quote are returned, or credited to an account of the payer if they are a digital ' +
    'asset.',
  permission: 'TRANSACT',
  sandboxOnly: true,
  body: named(
    'SandboxSendRequest',
    Type.Object(
      {
        quoteId: Type.String({ description: 'ID of a quote with a REALTIME_FUNDING source.' }),
        currencyCode: Type.String({
          description: 'Currency of the payment. Must be the sending currency of the quote.',
        }),
        currencyAmount: Type.Optional(
          Type.Integer({
            format: 'int64',
            exclusiveMinimum: 0,
            maximum: 9_000_000_000_000_000,
            description:
              'Amount in minor units of `currencyCode`. Defaults to the amount that the ' +
              'quote requires.',
          }),
        ),
      },
      { description: 'The simulated funding of a quote.' },
    ),
  ),
  replies: { 200: TransactionOneOf },
  errors: ['INVALID_CURRENCY', 'QUOTE_NOT_FOUND'],
  money: true,
});

export const sandboxSendOperations = [
  handle(sandboxSend, async (ctx, { body }) => {
    const { quoteId, currencyCode: currency, currencyAmount } = body;
    const quote = isId(quoteId, 'Quote') ? await readQuote(ctx, quoteId) : undefined;
    if (quote?.platform_id !== ctx.caller.platformId) {
      throw new Fault('QUOTE_NOT_FOUND', 'Quote not found.');
    }
    if (quote.sending_currency !== currency) {
      throw new Fault('INVALID_CURRENCY', `The quote must be funded in ${quote.sending_currency}.`);
    }
    const receipt = await receiveFunds(ctx, {
      quoteId,
      currency,
      amount: currencyAmount === undefined ? quote.sending_amount : BigInt(currencyAmount),
      origin: { accountHolderName: 'Sandbox payer' },
    });
    const transaction = presentTransaction(receipt) as Static<typeof TransactionOneOf>;
    return { status: 200, body: transaction };
  }),
];
