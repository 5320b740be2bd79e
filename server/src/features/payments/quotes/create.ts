// Creates a quote: resolves payer and payee, prices the payment, and stages the quote with its pending
// transaction. No funds are held and no event is emitted until execution.

import type { Static } from '@sinclair/typebox';
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { QUOTE_TTL_MS } from '../../../catalog/rails/realtime.ts';
import type { Connectors, FundingPort } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import type { Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type PlatformRow, readOwnPlatform } from '../../tenancy/platform/index.ts';
import {
  checkAccountDiscovery,
  checkAdmission,
  insertPayment,
  needsProof,
  type Payee,
  type Payer,
  type PaymentPrice,
  payeeOf,
  payeeOfUma,
  payerData,
  payerOf,
  priceRequest,
  requestPayment,
  requireRealtimePayer,
  senderOf,
} from '../pricing/index.ts';
import { paymentReferenceOf } from '../suspense/index.ts';
import type { OutgoingRow } from '../transactions/index.ts';
import type { QuoteRequest } from './contract.ts';
import { checkInvoice } from './execution/invoice.ts';
import { checkLogin } from './execution/sca.ts';
import { type Intent, signingInstructions } from './execution/wallet.ts';
import { expireOnClock } from './expiry.ts';
import { insertFirmQuote } from './firm-quotes.ts';
import type { QuoteRow } from './store.ts';
import { quotes } from './store.ts';

type Request = Static<typeof QuoteRequest>;

/** Payer and payee of the request. Throws if a party is not usable. */
async function partiesOf(
  ctx: Ctx,
  platform: PlatformRow,
  connectors: Connectors,
  { source, destination, lookupId }: Request,
): Promise<[Payer, Payee]> {
  if ('accountId' in source && 'accountId' in destination) {
    if (source.accountId === destination.accountId) {
      throw new Fault(
        'SELF_PAYMENT',
        'Source and destination are the same account. Use another destination.',
      );
    }
  }
  const parties = await allInOrder([
    'accountId' in source
      ? payerOf(ctx, platform, source, connectors.rail)
      : requireRealtimePayer(ctx, platform, source),
    'umaAddress' in destination
      ? payeeOfUma(ctx, destination, lookupId, connectors.rail)
      : payeeOf(ctx, destination, connectors.rail),
  ]);
  const [from, to] = parties.map((each) => ('account' in each ? each.account.id : undefined));
  if (from !== undefined && from === to) {
    throw new Fault(
      'SELF_PAYMENT',
      'The UMA address resolves to the source account. Use another destination.',
    );
  }
  return parties;
}

/**
 * Payment instructions for a REALTIME_FUNDING payment. Throws NOT_IMPLEMENTED if no connected rail supports
 * the currency, and SERVICE_UNAVAILABLE if the provider does not respond.
 */
async function payInInstructions(
  ctx: Ctx,
  payer: Payer & { kind: 'realtime' },
  port: FundingPort | undefined,
  payment: Money & { transactionId: string; expiresAt: Time },
): Promise<PaymentInstructions[]> {
  const funding = {
    ...payment,
    reference: paymentReferenceOf(payment.transactionId),
    network: payer.network,
    owner: payer.customer ? ('customer' as const) : ('platform' as const),
    at: ctx.now,
  };
  const instructions = await Promise.resolve(port?.forPayment?.(funding)).catch((cause) => {
    const reason = 'The provider of payment instructions does not respond. Try again.';
    throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 5, cause });
  });
  if (!instructions?.length) {
    throw new Fault(
      'NOT_IMPLEMENTED',
      `No connected rail supports REALTIME_FUNDING in ${payer.currency}.`,
    );
  }
  return instructions;
}

/** Instructions to send funds or to sign, or undefined if the execution requires none. */
async function instructionsFor(
  ctx: Ctx,
  port: FundingPort | undefined,
  intent: Intent,
): Promise<PaymentInstructions[] | undefined> {
  const { payer, money, transactionId, expiresAt } = intent;
  if (payer.kind === 'realtime') {
    return payInInstructions(ctx, payer, port, {
      transactionId,
      ...money.price.sending,
      expiresAt,
    });
  }
  if (payer.kind !== 'internal' || !payer.wallet) return undefined;
  return signingInstructions(ctx, payer.wallet, intent);
}

/** Throws for sources that must first be funded or signed for. */
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

/** A quote expires no later than the rate that a provider holds for it. */
function expiryOf(ctx: Ctx, payer: Payer, { firm }: PaymentPrice): Time {
  const expiresAt = ctx.now + (payer.kind === 'realtime' ? payer.funding.ttlMs : QUOTE_TTL_MS);
  return firm ? Math.min(expiresAt, Math.floor(firm.expiresAt)) : expiresAt;
}

/** Stages a quote and its transaction. */
export async function stageQuote(
  ctx: Ctx,
  connectors: Connectors,
  request: Request,
): Promise<{ quote: QuoteRow; payment: OutgoingRow }> {
  const platform = await readOwnPlatform(ctx);
  const [payer, payee] = await partiesOf(ctx, platform, connectors, request);
  if (request.lookupId !== undefined && 'accountId' in request.destination) {
    const { senderCustomerInfo, purposeOfPayment: PURPOSE_OF_PAYMENT } = request;
    const senderInfo = { PURPOSE_OF_PAYMENT, ...senderCustomerInfo };
    const { accountId } = request.destination;
    await checkAccountDiscovery(ctx, request.lookupId, accountId, payer.customer, senderInfo);
  }
  rejectImmediateExecution(request, payer);
  // For other sources the login is checked at execution.
  if (payer.kind === 'realtime' || request.immediatelyExecute) {
    await checkLogin(ctx, platform, payer);
  }
  const [id, quoteId] = [ctx.id('Transaction'), ctx.id('Quote')];
  // A provider holds a rate for seconds or minutes. Funds of external payers arrive later.
  const firmQuoteId = payer.kind === 'internal' ? quoteId : undefined;
  const direction = { from: payer.currency, payee, firmQuoteId };
  const money = await priceRequest(ctx, connectors, platform, request, direction);
  const purpose = request.purposeOfPayment;
  const proofNeeded =
    payee.kind === 'external' && (await needsProof(payee, money.price.receiving, connectors.rates));
  const route = checkAdmission(
    ctx.vault,
    platform,
    { payer, payee, purpose, proofNeeded },
    money.price,
  );
  if (payee.kind === 'external')
    await checkInvoice(ctx, payee.account, money.price.receiving.amount);
  const expiresAt = expiryOf(ctx, payer, money);
  const intent = { quoteId, transactionId: id, payer, payee, money, expiresAt };
  const details = {
    id,
    quoteId,
    description: request.description,
    remittance: request.remittanceInformation,
    purpose,
    proofNeeded,
    instructions: await instructionsFor(ctx, connectors.funding, intent),
    rail_payload:
      payee.kind === 'uma'
        ? await requestPayment(ctx, connectors.uma, payee, {
            id,
            ...money.price.receiving,
            sender: senderOf(payee.discovery, payer.customer),
            payerData: payerData(
              ctx.vault,
              payee.discovery,
              payer.customer,
              request.senderCustomerInfo,
            ),
          })
        : undefined,
  };
  const payment = insertPayment(ctx, { platform, payer, payee }, money, route, details);
  const quote = insertQuote(ctx, quoteId, payment, { money, request, expiresAt });
  if (money.firm) insertFirmQuote(ctx, quote, money.firm, money.price);
  expireOnClock(ctx, quote);
  return { quote, payment };
}

const SOURCE_FIELDS = ['sourceType', 'accountId', 'customerId', 'currency', 'cryptoNetwork'];
const DESTINATION_FIELDS = [
  'destinationType',
  'accountId',
  'paymentRail',
  'umaAddress',
  'currency',
];

/** The known properties of an object of the request. */
const pick = (input: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (name in input ? [[name, input[name]]] : [])));

function insertQuote(
  ctx: Ctx,
  id: string,
  payment: OutgoingRow,
  { money, request, expiresAt }: { money: PaymentPrice; request: Request; expiresAt: Time },
): QuoteRow {
  return ctx.insert(quotes, {
    id,
    platform_id: ctx.caller.platformId,
    customer_id: payment.customer_id,
    transaction_id: payment.id,
    source: pick(request.source, SOURCE_FIELDS),
    destination: pick(request.destination, DESTINATION_FIELDS),
    sending_currency: payment.sent_currency,
    receiving_currency: payment.received_currency,
    sending_amount: payment.sent_amount,
    receiving_amount: payment.received_amount,
    fees: payment.fees,
    platform_fees: payment.platform_fees,
    exchange_rate: money.exchangeRate,
    rate_details: payment.rate_details ?? {},
    lock_side: request.lockedCurrencySide,
    lock_amount: BigInt(request.lockedCurrencyAmount),
    description: request.description,
    agent_id: ctx.caller.agentId,
    expires_at: expiresAt,
    created_at: ctx.now,
  });
}
