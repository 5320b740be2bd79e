// Paying out in one currency: the same parties, transaction and start as a quote's, at rate 1 and free.
import type { Static } from '@sinclair/typebox';
import type { Connectors } from '../../connectors/ports.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import type { Environment } from '../../runtime/context.ts';
import { handle } from '../../runtime/handle.ts';
import { ownPlatform } from '../platform/index.ts';
import {
  admit,
  insertPayment,
  type Payee,
  type Payer,
  type Priced,
  payeeOf,
  payerOf,
  startPayment,
} from '../quotes/index.ts';
import { presentTransaction, type TransactionOneOf } from '../transactions/index.ts';
import { createTransferOut } from './contract.ts';

/** What a transfer costs: nothing, and it delivers what it takes. */
const free = (amount: bigint): Priced => ({
  price: {
    sending: amount,
    receiving: amount,
    net: amount,
    serviceFee: 0n,
    serviceVariable: 0n,
    platformFee: 0n,
  },
  fees: 0n,
  exchangeRate: '1',
  rateDetails: null,
  feeAccount: null,
});

function checkEnds(payer: Payer, payee: Payee): void {
  if (payer.kind !== 'internal') {
    throw invalidField('source.accountId', 'must be an internal account');
  }
  if (payee.kind !== 'external') {
    throw invalidField('destination.accountId', 'must be an external account');
  }
  const { currency, account } = payer;
  if (payee.currency !== currency) {
    throw new Fault('INVALID_CURRENCY', `The source holds ${currency}, not ${payee.currency}.`);
  }
  const owner = payee.account.customer_id;
  if (owner !== null && owner !== account.customer_id) {
    throw invalidField('destination.accountId', 'belongs to somebody else than the source');
  }
}

export const transferOperations = (connectors: (environment: Environment) => Connectors) => [
  handle(createTransferOut, async (ctx, { body }) => {
    const platform = await ownPlatform(ctx);
    const { rail } = connectors(ctx.caller.environment);
    const { accountId, paymentRail } = body.destination;
    const [payer, payee] = await Promise.all([
      payerOf(ctx, platform, { accountId: body.source.accountId }, rail),
      payeeOf(ctx, { accountId, paymentRail }, rail),
    ]);
    checkEnds(payer, payee);
    const money = free(BigInt(body.amount as number));
    const { purposeOfPayment: purpose } = body;
    const route = admit(platform, { payer, payee, purpose }, money.price);
    const payment = insertPayment(ctx, { platform, payer, payee }, money, route, {
      id: ctx.id('Transaction'),
      remittance: body.remittanceInformation,
      purpose,
    });
    // The answer shows the transfer as accepted; how it goes on is told by events.
    const accepted = presentTransaction(payment) as Static<typeof TransactionOneOf>;
    await startPayment(ctx, payment);
    return { status: 201, body: accepted };
  }),
];
