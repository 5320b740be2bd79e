// Creating a quote: find both ends, price the payment, and stage the quote with its pending transaction.
// Nothing is held and nothing is told yet; that is execution's business.
import type { Static } from '@sinclair/typebox';
import { currencyOf } from '../../catalog/currencies.ts';
import { type FeeSchedule, serviceFeeOf } from '../../catalog/fees.ts';
import { RAILS } from '../../catalog/rails.ts';
import type { Connectors } from '../../connectors/ports.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { type Rate, toDecimal } from '../../kernel/money.ts';
import type { Ctx } from '../../runtime/context.ts';
import { internalAccounts } from '../internal-accounts/index.ts';
import { ownPlatform, type PlatformRow, platformFeeOf } from '../platform/index.ts';
import { type TransactionRow, transactions } from '../transactions/index.ts';
import type { QuoteRequest } from './contract.ts';
import { aboutPayee } from './counterparty.ts';
import { admit, type Route } from './limits.ts';
import { type Payee, type Payer, payeeOf, payerOf } from './parties.ts';
import type { QuoteRow } from './present.ts';
import { exchangeRate, type Price, priceOf } from './price.ts';
import { quotes } from './store.ts';

type Request = Static<typeof QuoteRequest>;

const QUOTE_TTL_MS = 5 * 60_000;
const SAME: Rate = { num: 1n, den: 1n };

function platformFee(
  platform: PlatformRow,
  request: Request,
  from: string,
  to: string,
): FeeSchedule {
  const override = request.platformFeeOverride;
  if (override) {
    const { amount, currency } = override.platformFixedFee;
    const field = 'platformFeeOverride.platformFixedFee.currency';
    if (currency !== from) throw invalidField(field, `must be the sending currency, ${from}`);
    if (from !== 'USD')
      throw invalidField('platformFeeOverride', 'applies to payments from USD only');
    return { fixed: BigInt(amount), variableBps: override.platformVariableFeeBps };
  }
  return platformFeeOf(platform, from, to);
}

async function rateOf(connectors: Connectors, from: string, to: string): Promise<Rate> {
  if (from === to) return SAME;
  const found = await connectors.rates?.rate(from, to);
  if (!found) throw new Fault('QUOTE_RATE_UNAVAILABLE', `There is no rate from ${from} to ${to}.`);
  return found.rate;
}

/** The platform's own account in the sending currency, which a platform fee is paid into. */
async function feeAccount(ctx: Ctx, currency: string, fee: bigint): Promise<string | null> {
  if (fee === 0n) return null;
  const own = await ctx.db.find(internalAccounts, {
    platform_id: ctx.caller.platformId,
    customer_id: null,
    currency,
  });
  const open = own.find((each) => each.status === 'ACTIVE');
  if (!open) {
    throw invalidField(
      'platformFeeOverride',
      `the platform has no ${currency} account for its fee`,
    );
  }
  return open.id;
}

function rateDetails(
  price: Price,
  service: FeeSchedule,
  from: string,
  to: string,
): Record<string, number> {
  const scaleOf = (code: string) => 10n ** BigInt(currencyOf(code).decimals);
  const multiplier = { num: price.receiving * scaleOf(from), den: price.net * scaleOf(to) };
  return {
    counterpartyMultiplier: 1,
    counterpartyFixedFee: 0,
    serviceApiMultiplier: Number(toDecimal(multiplier, 18)),
    serviceApiFixedFee: Number(service.fixed),
    serviceApiVariableFeeRate: service.variableBps / 10_000,
    serviceApiVariableFeeAmount: Number(price.serviceVariable),
  };
}

export interface Priced {
  price: Price;
  fees: bigint;
  exchangeRate: string;
  /** Null where there was nothing to convert or to charge. */
  rateDetails: Record<string, number> | null;
  feeAccount: string | null;
}

interface Asked {
  lock: 'SENDING' | 'RECEIVING';
  amount: bigint;
  service: FeeSchedule;
  platform: FeeSchedule;
  rate: Rate;
}

/** Prices a payment between two currencies, or throws why there is no price. */
async function priced(ctx: Ctx, asked: Asked, from: string, to: string): Promise<Priced> {
  const price = priceOf(asked);
  if (!price) throw new Fault('AMOUNT_OUT_OF_RANGE', 'The amount does not cover the fees.');
  const decimals = { sending: currencyOf(from).decimals, receiving: currencyOf(to).decimals };
  return {
    price,
    fees: price.serviceFee + price.platformFee,
    exchangeRate: from === to ? '1' : exchangeRate(price, decimals),
    rateDetails: rateDetails(price, asked.service, from, to),
    feeAccount: await feeAccount(ctx, from, price.platformFee),
  };
}

/** The pending transaction of a payment from an internal account. */
export function insertPayment(
  ctx: Ctx,
  ends: { platform: PlatformRow; payer: Payer; payee: Payee },
  money: Priced,
  { rail, railMode }: Route,
  more: { quoteId?: string; description?: string; remittance?: string; purpose?: string },
): TransactionRow {
  const { platform, payer, payee } = ends;
  const seconds = rail && RAILS[rail].settlementSeconds;
  const slow = rail !== null && !RAILS[rail].instant;
  return ctx.insert(transactions, {
    id: ctx.id('Transaction'),
    platform_id: ctx.caller.platformId,
    customer_id: payer.customer?.id ?? null,
    platform_customer_id: payer.customer?.platform_customer_id ?? ctx.caller.platformId,
    type: 'OUTGOING',
    direction: 'DEBIT',
    status: 'PENDING',
    funds: 'NONE',
    source: {
      sourceType: 'ACCOUNT',
      accountId: payer.account.id,
      currency: payer.account.currency,
    },
    destination: {
      destinationType: 'ACCOUNT',
      accountId: payee.account.id,
      currency: payee.currency,
    },
    source_account: payer.account.id,
    destination_account: payee.account.id,
    sent_amount: money.price.sending,
    sent_currency: payer.account.currency,
    received_amount: money.price.receiving,
    received_currency: payee.currency,
    fees: money.fees,
    platform_fees: money.price.platformFee,
    platform_fee_account: money.feeAccount,
    exchange_rate: money.exchangeRate,
    rate_details: money.rateDetails,
    quote_id: more.quoteId,
    description: more.description,
    remittance: more.remittance,
    purpose: more.purpose,
    counterparty: aboutPayee(platform, payer, payee),
    rail,
    rail_mode: railMode,
    expected_settlement_at: slow && seconds !== null ? ctx.now + seconds * 1000 : null,
    settlement_seconds: seconds,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
}

function refuseUnserved(request: Request): void {
  if (request.source.sourceType !== 'ACCOUNT') {
    throw new Fault('NOT_IMPLEMENTED', 'No rail here takes money in for a quote.');
  }
  if (request.destination.destinationType !== 'ACCOUNT') {
    throw new Fault('NOT_IMPLEMENTED', 'No connection to other UMA providers is set up.');
  }
}

/** Stages a quote and its transaction. */
export async function stageQuote(
  ctx: Ctx,
  connectors: Connectors,
  request: Request,
): Promise<{ quote: QuoteRow; payment: TransactionRow }> {
  refuseUnserved(request);
  const platform = await ownPlatform(ctx);
  const source = request.source as { accountId: string; customerId?: string };
  const destination = request.destination as { accountId: string; paymentRail?: string };
  const [payer, payee] = await Promise.all([
    payerOf(ctx, platform, source),
    payeeOf(ctx, destination, connectors.rail),
  ]);
  if (source.accountId === destination.accountId) {
    throw new Fault('SELF_PAYMENT', 'Source and destination are the same account.');
  }
  const from = payer.account.currency;
  const to = payee.currency;
  const asked = {
    lock: request.lockedCurrencySide,
    amount: BigInt(request.lockedCurrencyAmount),
    service: serviceFeeOf(from, to),
    platform: platformFee(platform, request, from, to),
    rate: await rateOf(connectors, from, to),
  };
  const money = await priced(ctx, asked, from, to);
  const route = admit(platform, { from, payee, purpose: request.purposeOfPayment }, money.price);
  const id = ctx.id('Quote');
  const payment = insertPayment(ctx, { platform, payer, payee }, money, route, {
    quoteId: id,
    description: request.description,
    remittance: request.remittanceInformation,
    purpose: request.purposeOfPayment,
  });
  return { quote: insertQuote(ctx, id, payment, money, request), payment };
}

/** What an end was described with, without properties that mean nothing. */
const picked = (given: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (name in given ? [[name, given[name]]] : [])));

function insertQuote(
  ctx: Ctx,
  id: string,
  payment: TransactionRow,
  money: Priced,
  request: Request,
): QuoteRow {
  return ctx.insert(quotes, {
    id,
    platform_id: ctx.caller.platformId,
    customer_id: payment.customer_id,
    transaction_id: payment.id,
    source: picked(request.source, ['sourceType', 'accountId', 'customerId']),
    destination: picked(request.destination, ['destinationType', 'accountId', 'paymentRail']),
    sending_currency: payment.sent_currency as string,
    receiving_currency: payment.received_currency as string,
    sending_amount: money.price.sending,
    receiving_amount: money.price.receiving,
    fees: money.fees,
    platform_fees: money.price.platformFee,
    exchange_rate: money.exchangeRate,
    rate_details: money.rateDetails ?? {},
    lock_side: request.lockedCurrencySide,
    lock_amount: BigInt(request.lockedCurrencyAmount),
    description: request.description,
    expires_at: ctx.now + QUOTE_TTL_MS,
    created_at: ctx.now,
  });
}
