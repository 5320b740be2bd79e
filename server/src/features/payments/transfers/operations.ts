// Outgoing same-currency transfers. Parties, transaction and start are the same as for a quote at
// rate 1. The fee is the network fee of a wallet, deducted from the amount. Transfers to bank
// accounts have no fee.
import type { Static } from '@sinclair/typebox';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { isBalance } from '../../balances/internal-accounts/index.ts';
import { needsSca } from '../../sca/authentication/index.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
import { presentTransaction, type TransactionOneOf } from '../presentation/index.ts';
import {
  checkAdmission,
  insertPayment,
  needsProof,
  type Payee,
  type Payer,
  payeeOf,
  payerOf,
  priceTransfer,
  requireActiveOwner,
} from '../pricing/index.ts';
import { startPayment } from '../quotes/index.ts';
import type { OutgoingRow } from '../transactions/index.ts';
import { createTransferOut, type TransferDeps } from './contract.ts';

function checkParties(payer: Payer, payee: Payee): void {
  if (payer.kind !== 'internal') {
    throw invalidField('source.accountId', 'must be an internal account');
  }
  const { currency, account } = payer;
  if (!isBalance(account)) {
    throw invalidField(
      'source.accountId',
      'must not be an embedded wallet. Create a quote instead',
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
    throw invalidField(
      'destination.accountId',
      'must belong to the platform or to the owner of the source account',
    );
  }
}

type Request = Static<(typeof createTransferOut)['body']>;

/** Throws CONFLICT if the customer must authorize the payment. Transfers do not support authorization. */
function checkNoAuthorization(
  ctx: Ctx,
  platform: PlatformRow,
  { customer, currency }: Pick<Payer, 'customer' | 'currency'>,
): void {
  if (!needsSca(ctx, platform, customer, currency)) return;
  const reason = `The customer must authorize payments in ${currency}. Create a quote instead.`;
  throw new Fault('CONFLICT', reason);
}

/** Stages the transaction of an admissible transfer, as PENDING. No event is emitted. */
export async function stageTransferOut(
  ctx: Ctx,
  { connectors }: TransferDeps,
  body: Request,
): Promise<OutgoingRow> {
  const platform = await readOwnPlatform(ctx);
  const ports = connectors(ctx.caller.environment);
  const [payer, payee] = await allInOrder([
    payerOf(ctx, platform, { accountId: body.source.accountId }, ports.rail),
    payeeOf(ctx, body.destination, ports.rail),
  ]);
  checkParties(payer, payee);
  checkNoAuthorization(ctx, platform, payer);
  const requestedAmount = { currency: payee.currency, amount: BigInt(body.amount as number) };
  const money = await priceTransfer(ctx, ports, payee, requestedAmount);
  const { purposeOfPayment: purpose } = body;
  const proofNeeded =
    payee.kind === 'external' && (await needsProof(payee, money.price.receiving, ports.rates));
  const route = checkAdmission(
    ctx.vault,
    platform,
    { payer, payee, purpose, proofNeeded },
    money.price,
  );
  return insertPayment(ctx, { platform, payer, payee }, money, route, {
    id: ctx.id('Transaction'),
    remittance: body.remittanceInformation,
    purpose,
    proofNeeded,
  });
}

/** Starts the transfer. The transfer is checked again, because it may have waited for approval. */
export async function startTransferOut(ctx: Ctx, row: OutgoingRow): Promise<OutgoingRow> {
  const [platform, customer] = await Promise.all([
    readOwnPlatform(ctx),
    requireActiveOwner(ctx, row),
  ]);
  checkNoAuthorization(ctx, platform, { customer, currency: row.sent_currency });
  return startPayment(ctx, row);
}

export const transferOperations = (deps: TransferDeps) => [
  handle(createTransferOut, async (ctx, { body }) => {
    const payment = await stageTransferOut(ctx, deps, body);
    // The response shows the transfer as accepted. Events report its progress.
    const acceptedTransaction = presentTransaction(payment) as Static<typeof TransactionOneOf>;
    await startPayment(ctx, payment);
    return { status: 201, body: acceptedTransaction };
  }),
];
