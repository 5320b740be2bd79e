// Paying out in one currency: the same parties, transaction and start as a quote's, at rate 1. It costs what
// the network of a wallet takes, out of the amount, and nothing to a bank.
import type { Static } from '@sinclair/typebox';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { isBalance } from '../../balances/internal-accounts/index.ts';
import { needsSca } from '../../sca/authentication/index.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';
import { presentTransaction, type TransactionOneOf } from '../presentation/index.ts';
import {
  activeOwner,
  admit,
  insertPayment,
  needsProof,
  type Payee,
  type Payer,
  payeeOf,
  payerOf,
  pricedTransfer,
} from '../pricing/index.ts';
import { startPayment } from '../quotes/index.ts';
import type { OutgoingRow } from '../transactions/index.ts';
import { createTransferOut, type TransferParts } from './contract.ts';

function checkEnds(payer: Payer, payee: Payee): void {
  if (payer.kind !== 'internal') {
    throw invalidField('source.accountId', 'must be an internal account');
  }
  const { currency, account } = payer;
  if (!isBalance(account)) {
    throw invalidField(
      'source.accountId',
      'must not be an embedded wallet; create a quote instead',
    );
  }
  if (payee.kind !== 'external') {
    throw invalidField('destination.accountId', 'must be an external account');
  }
  if (payee.currency !== currency) {
    throw new Fault(
      'INVALID_CURRENCY',
      `The source account is denominated in ${currency}, not ${payee.currency}.`,
    );
  }
  const owner = payee.account.customer_id;
  if (owner !== null && owner !== account.customer_id) {
    throw invalidField('destination.accountId', 'must have the same owner as the source account');
  }
}

type Request = Static<(typeof createTransferOut)['body']>;

/** Throws CONFLICT for money whose customer authorises each payment: a transfer has no place for that. */
function checkNoAuthorization(
  ctx: Ctx,
  platform: PlatformRow,
  { customer, currency }: Pick<Payer, 'customer' | 'currency'>,
): void {
  if (!needsSca(ctx, platform, customer, currency)) return;
  const reason = `The customer must authorize payments in ${currency}. Create a quote instead.`;
  throw new Fault('CONFLICT', reason);
}

/** Stages the transaction of a transfer that may be made. It waits as PENDING, and nobody is told of it. */
export async function stageTransferOut(
  ctx: Ctx,
  { connectors }: TransferParts,
  body: Request,
): Promise<OutgoingRow> {
  const platform = await ownPlatform(ctx);
  const ports = connectors(ctx.caller.environment);
  const [payer, payee] = await allInOrder([
    payerOf(ctx, platform, { accountId: body.source.accountId }, ports.rail),
    payeeOf(ctx, body.destination, ports.rail),
  ]);
  checkEnds(payer, payee);
  checkNoAuthorization(ctx, platform, payer);
  const asked = { currency: payee.currency, amount: BigInt(body.amount as number) };
  const money = await pricedTransfer(ctx, ports, payee, asked);
  const { purposeOfPayment: purpose } = body;
  const proofNeeded =
    payee.kind === 'external' && (await needsProof(payee, money.price.receiving, ports.rates));
  const route = admit(ctx.vault, platform, { payer, payee, purpose, proofNeeded }, money.price);
  return insertPayment(ctx, { platform, payer, payee }, money, route, {
    id: ctx.id('Transaction'),
    remittance: body.remittanceInformation,
    purpose,
    proofNeeded,
  });
}

/** Takes the money and has it sent, if that is still possible: it may have waited for long. */
export async function startTransferOut(ctx: Ctx, row: OutgoingRow): Promise<OutgoingRow> {
  const [platform, customer] = await Promise.all([ownPlatform(ctx), activeOwner(ctx, row)]);
  checkNoAuthorization(ctx, platform, { customer, currency: row.sent_currency });
  return startPayment(ctx, row);
}

export const transferOperations = (parts: TransferParts) => [
  handle(createTransferOut, async (ctx, { body }) => {
    const payment = await stageTransferOut(ctx, parts, body);
    // The answer shows the transfer as accepted; how it goes on is told by events.
    const accepted = presentTransaction(payment) as Static<typeof TransactionOneOf>;
    await startPayment(ctx, payment);
    return { status: 201, body: accepted };
  }),
];
