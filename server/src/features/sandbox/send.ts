// Pretending that somebody paid in what a quote asked for. The money takes the same door as a real deposit
// with the quote's reference, so too little, too much and too late mean what they mean there.

import { type Static, Type } from '@sinclair/typebox';
import { operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { named } from '../../kernel/schema.ts';
import { handle } from '../../runtime/operation/handle.ts';
import { presentTransaction, TransactionOneOf } from '../payments/presentation/index.ts';
import { readQuote, takeDeposit } from '../payments/quotes/index.ts';

const sandboxSend = operation({
  operationId: 'sandboxSend',
  method: 'POST',
  path: '/sandbox/send',
  tag: 'Sandbox',
  summary: 'Pay in for a quote',
  description:
    'The payment that the instructions of a realtime-funded quote ask for arrives. ' +
    'Another amount than the one asked for fails the payment and goes back.',
  permission: 'TRANSACT',
  sandboxOnly: true,
  body: named(
    'SandboxSendRequest',
    Type.Object({
      quoteId: Type.String({ description: 'The quote that waits for money.' }),
      currencyCode: Type.String({ description: 'Currency of the money, that of the quote.' }),
      currencyAmount: Type.Optional(
        Type.Integer({
          format: 'int64',
          exclusiveMinimum: 0,
          maximum: 9_000_000_000_000_000,
          description: 'Smallest units; exactly what the quote asks for if absent.',
        }),
      ),
    }),
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
      throw new Fault('QUOTE_NOT_FOUND', 'No such quote.');
    }
    if (quote.sending_currency !== currency) {
      throw new Fault('INVALID_CURRENCY', `The quote waits for ${quote.sending_currency}.`);
    }
    const taken = await takeDeposit(ctx, {
      quoteId,
      currency,
      amount: currencyAmount === undefined ? quote.sending_amount : BigInt(currencyAmount),
      origin: { accountHolderName: 'Sandbox payer' },
    });
    const shown = presentTransaction(taken) as Static<typeof TransactionOneOf>;
    return { status: 200, body: shown };
  }),
];
