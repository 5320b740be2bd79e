// Creating a quote: find both ends, price the payment, and stage the quote with its pending transaction.
// Nothing is held and nothing is told yet; that is execution's business.

import type { Static } from '@sinclair/typebox';
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { QUOTE_TTL_MS } from '../../../catalog/rails/realtime.ts';
import type { Connectors, FundingPort } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { ownPlatform, type PlatformRow } from '../../tenancy/platform/index.ts';
import {
  admit,
  checkAccountDiscovery,
  insertPayment,
  needsProof,
  type Payee,
  type Payer,
  type Priced,
  payeeOf,
  payeeOfUma,
  payerData,
  payerOf,
  pricedFor,
  realtimePayer,
  requestPayment,
  senderOf,
} from '../pricing/index.ts';
import { paymentReference } from '../suspense/index.ts';
import type { OutgoingRow } from '../transactions/index.ts';
import type { QuoteRequest } from './contract.ts';
import { checkInvoice } from './execution/invoice.ts';
import { checkLogin } from './execution/sca.ts';
import { type Intent, signingInstructions } from './execution/wallet.ts';
import type { QuoteRow } from './store.ts';
import { quotes } from './store.ts';

type Request = Static<typeof QuoteRequest>;

/** Both ends of what is asked for, found and usable. */
async function endsOf(
  ctx: Ctx,
  platform: PlatformRow,
  connectors: Connectors,
  { source, destination, lookupId }: Request,
): Promise<[Payer, Payee]> {
  if ('accountId' in source && 'accountId' in destination) {
    if (source.accountId === destination.accountId) {
      throw new Fault('SELF_PAYMENT', 'Source and destination are the same account.');
    }
  }
  const ends = await allInOrder([
    'accountId' in source
      ? payerOf(ctx, platform, source, connectors.rail)
      : realtimePayer(ctx, platform, source),
    'umaAddress' in destination
      ? payeeOfUma(ctx, destination, lookupId, connectors.rail)
      : payeeOf(ctx, destination, connectors.rail),
  ]);
  const [from, to] = ends.map((end) => ('account' in end ? end.account.id : undefined));
  if (from !== undefined && from === to) {
    throw new Fault('SELF_PAYMENT', 'The UMA address resolves to the source account.');
  }
  return ends;
}

/** Where the money is to be paid in, for a payment that waits for it. */
function payInFor(
  ctx: Ctx,
  payer: Payer & { kind: 'realtime' },
  port: FundingPort | undefined,
  payment: Money & { transactionId: string; expiresAt: Time },
): PaymentInstructions[] {
  const found = port?.forPayment?.({
    ...payment,
    reference: paymentReference(payment.transactionId),
    network: payer.network,
    owner: payer.customer ? 'customer' : 'platform',
    at: ctx.now,
  });
  if (!found?.length) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      `No connected rail supports REALTIME_FUNDING in ${payer.currency}.`,
    );
  }
  return found;
}

/** What is to be done before a quote executes: to pay in, to sign, or nothing. */
function instructionsFor(
  ctx: Ctx,
  port: FundingPort | undefined,
  intent: Intent,
): PaymentInstructions[] | undefined {
  const { payer, money, transactionId, expiresAt } = intent;
  if (payer.kind === 'realtime') {
    return payInFor(ctx, payer, port, { transactionId, ...money.price.sending, expiresAt });
  }
  if (payer.kind !== 'internal' || !payer.wallet) return undefined;
  return signingInstructions(ctx, payer.wallet, intent);
}

/** Throws where money that must first come in, or be signed for, is to be taken at once. */
function rejectImmediateExecution({ immediatelyExecute }: Request, payer: Payer): void {
  if (!immediatelyExecute) return;
  const field = 'immediatelyExecute';
  if (payer.kind === 'realtime') {
    throw invalidField(field, 'is not allowed with a REALTIME_FUNDING source');
  }
  if (payer.kind === 'internal' && payer.wallet) {
    throw invalidField(field, 'is not allowed with an embedded wallet, which requires a signature');
  }
}

/** Stages a quote and its transaction. */
export async function stageQuote(
  ctx: Ctx,
  connectors: Connectors,
  request: Request,
): Promise<{ quote: QuoteRow; payment: OutgoingRow }> {
  const platform = await ownPlatform(ctx);
  const [payer, payee] = await endsOf(ctx, platform, connectors, request);
  if (request.lookupId !== undefined && 'accountId' in request.destination) {
    const { senderCustomerInfo, purposeOfPayment: PURPOSE_OF_PAYMENT } = request;
    const given = { PURPOSE_OF_PAYMENT, ...senderCustomerInfo };
    const { accountId } = request.destination;
    await checkAccountDiscovery(ctx, request.lookupId, accountId, payer.customer, given);
  }
  rejectImmediateExecution(request, payer);
  // Later is soon enough for money that is here: when it is taken.
  if (payer.kind === 'realtime' || request.immediatelyExecute) {
    await checkLogin(ctx, platform, payer);
  }
  const ends = [payer.currency, payee] as const;
  const money = await pricedFor(ctx, connectors, platform, request, ends);
  const purpose = request.purposeOfPayment;
  const proofNeeded =
    payee.kind === 'external' && (await needsProof(payee, money.price.receiving, connectors.rates));
  const route = admit(ctx.vault, platform, { payer, payee, purpose, proofNeeded }, money.price);
  if (payee.kind === 'external')
    await checkInvoice(ctx, payee.account, money.price.receiving.amount);
  const [id, quoteId] = [ctx.id('Transaction'), ctx.id('Quote')];
  const expiresAt = ctx.now + (payer.kind === 'realtime' ? payer.ways.ttlMs : QUOTE_TTL_MS);
  const intent = { quoteId, transactionId: id, payer, payee, money, expiresAt };
  const details = {
    id,
    quoteId,
    description: request.description,
    remittance: request.remittanceInformation,
    purpose,
    proofNeeded,
    instructions: instructionsFor(ctx, connectors.funding, intent),
    rail_payload:
      payee.kind === 'uma'
        ? await requestPayment(ctx, connectors.uma, payee, {
            id,
            ...money.price.receiving,
            sender: senderOf(payee.lookup, payer.customer),
            payerData: payerData(
              ctx.vault,
              payee.lookup,
              payer.customer,
              request.senderCustomerInfo,
            ),
          })
        : undefined,
  };
  const payment = insertPayment(ctx, { platform, payer, payee }, money, route, details);
  return { quote: insertQuote(ctx, quoteId, payment, { money, request, expiresAt }), payment };
}

const SOURCE_FIELDS = ['sourceType', 'accountId', 'customerId', 'currency', 'cryptoNetwork'];
const DESTINATION_FIELDS = [
  'destinationType',
  'accountId',
  'paymentRail',
  'umaAddress',
  'currency',
];

/** What an end was described with, without properties that mean nothing. */
const picked = (given: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (name in given ? [[name, given[name]]] : [])));

function insertQuote(
  ctx: Ctx,
  id: string,
  payment: OutgoingRow,
  { money, request, expiresAt }: { money: Priced; request: Request; expiresAt: Time },
): QuoteRow {
  return ctx.insert(quotes, {
    id,
    platform_id: ctx.caller.platformId,
    customer_id: payment.customer_id,
    transaction_id: payment.id,
    source: picked(request.source, SOURCE_FIELDS),
    destination: picked(request.destination, DESTINATION_FIELDS),
    sending_currency: payment.sent_currency,
    receiving_currency: payment.received_currency,
    sending_amount: payment.sent_amount,
    receiving_amount: payment.received_amount,
    fees: payment.fees,
    platform_fees: payment.platform_fees,
    exchange_rate: money.exchangeRate,
    rate_details: money.rateDetails ?? {},
    lock_side: request.lockedCurrencySide,
    lock_amount: BigInt(request.lockedCurrencyAmount),
    description: request.description,
    agent_id: ctx.caller.agentId,
    expires_at: expiresAt,
    created_at: ctx.now,
  });
}
