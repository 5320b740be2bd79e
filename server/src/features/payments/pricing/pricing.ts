// The price of one payment for one platform: the rate, the service fee, the network fee of a
// wallet, and the platform fee with its account. The calculation is pure and in price.ts.

import { withdrawalNetworkOf } from '../../../catalog/accounts/account-info.ts';
import { calculateFees, type FeeSchedule, NO_FEE } from '../../../catalog/currencies/fees.ts';
import { wholeUnitRate } from '../../../catalog/currencies/money-format.ts';
import type { RateDetails } from '../../../catalog/currencies/rate-details.ts';
import type { Connectors, FirmQuote, FirmQuoteRequest } from '../../../connectors/ports/index.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { add, type ConversionRate, type Money, toDecimal } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { addNetworkFee } from '../../payees/discovery/index.ts';
import { platformFeeOf } from '../../tenancy/config/index.ts';
import type { PlatformRow } from '../../tenancy/platform/index.ts';
import type { Payee } from './parties.ts';
import { exchangeRate, type Price, priceOf, type Terms } from './price.ts';

interface Request {
  lockedCurrencySide: Terms['lock'];
  lockedCurrencyAmount: number;
  /** Replaces the configured platform fees. Zero waives them. */
  platformFeeOverride?:
    | {
        platformFixedFee: { amount: number; currency: string };
        platformVariableFeeBps: number;
      }
    | undefined;
}

/** The rate within one currency. */
const parRateOf = (currency: string): ConversionRate => ({
  from: currency,
  to: currency,
  num: 1n,
  den: 1n,
});

function platformFeeFor(
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

/** A firm quote is not used in this period before its expiry. */
const FIRM_MARGIN_MS = 1_000;

/** The fixed amount to exchange. On the sending side, this is the amount after fees. */
const exchangedAmountOf = ({ lock, amount, service, platform }: Omit<Terms, 'rate'>): bigint =>
  lock === 'SENDING'
    ? amount.amount - calculateFees(amount.amount, service, platform).total
    : amount.amount;

/**
 * A rate that a provider holds for the payment. Null without a conversion or a usable offer. The
 * current rate then applies.
 */
async function firmQuoteOf(
  ctx: Ctx,
  { firmQuotes }: Connectors,
  terms: Omit<Terms, 'rate'>,
  { id, from, to }: Pick<FirmQuoteRequest, 'id' | 'from' | 'to'>,
): Promise<FirmQuote | null> {
  const amount = exchangedAmountOf(terms);
  if (!firmQuotes || from === to || amount <= 0n) return null;
  const side = terms.lock === 'SENDING' ? 'SELL' : 'BUY';
  const quote = await firmQuotes.request({ id, from, to, side, amount }).catch(() => undefined);
  return quote && quote.expiresAt - FIRM_MARGIN_MS > ctx.now ? quote : null;
}

async function rateOf(connectors: Connectors, from: string, to: string): Promise<ConversionRate> {
  if (from === to) return parRateOf(from);
  const rate = await connectors.rates?.rate(from, to);
  if (!rate)
    throw new Fault(
      'QUOTE_RATE_UNAVAILABLE',
      `No exchange rate from ${from} to ${to} is available. Repeat the request later.`,
    );
  return { ...rate.rate, from, to };
}

/** The service fee of a payment to the payee, including the network fee of a wallet. */
async function serviceFeeFor(
  connectors: Connectors,
  from: string,
  payee: Payee,
): Promise<FeeSchedule> {
  const network = payee.kind === 'external' ? withdrawalNetworkOf(payee.account.info) : undefined;
  return (await addNetworkFee(connectors, network, [from, payee.currency])).service;
}

/**
 * The platform account that receives a platform fee, or null without a fee. Throws INVALID_INPUT if
 * the platform has no ACTIVE account in the currency.
 */
async function findFeeAccount(ctx: Ctx, { currency, amount }: Money): Promise<string | null> {
  if (amount === 0n) return null;
  const platformAccounts = await findInternalAccounts(ctx.db, {
    platform_id: ctx.caller.platformId,
    customer_id: null,
    currency,
  });
  const activeAccount = platformAccounts.find((each) => each.status === 'ACTIVE');
  if (!activeAccount) {
    const reason = `The platform has no ACTIVE ${currency} account for its fee. Set the fee to 0.`;
    throw new Fault('INVALID_INPUT', reason);
  }
  return activeAccount.id;
}

function rateDetailsOf(price: Price, service: FeeSchedule): RateDetails {
  const multiplier = wholeUnitRate(price.receiving, price.net);
  return {
    counterpartyMultiplier: 1,
    counterpartyFixedFee: 0,
    serviceApiMultiplier: Number(toDecimal(multiplier, 18)),
    serviceApiFixedFee: Number(service.fixed),
    serviceApiVariableFeeRate: service.variableBps / 10_000,
    serviceApiVariableFeeAmount: Number(price.serviceVariable.amount),
  };
}

export interface PaymentPrice {
  price: Price;
  /** Service and platform fees, in the sending currency. */
  fees: Money;
  exchangeRate: string;
  /** Null for a same-currency transfer without fees. */
  rateDetails: RateDetails | null;
  feeAccount: string | null;
  /** The quote whose rate a provider holds, or null. */
  firm: FirmQuote | null;
}

async function priceTerms(
  ctx: Ctx,
  terms: Terms,
  firm: FirmQuote | null = null,
): Promise<PaymentPrice> {
  const price = priceOf(terms);
  if (!price) {
    const reason = 'The amount does not cover the fees. Increase the amount.';
    throw new Fault('AMOUNT_OUT_OF_RANGE', reason);
  }
  const { from, to } = terms.rate;
  return {
    price,
    fees: add(price.serviceFee, price.platformFee),
    exchangeRate: from === to ? '1' : exchangeRate(price),
    rateDetails: rateDetailsOf(price, terms.service),
    feeAccount: await findFeeAccount(ctx, price.platformFee),
    firm,
  };
}

interface Direction {
  /** Sending currency. */
  from: string;
  payee: Payee;
  /** ID of the quote, if a provider may hold its rate. */
  firmQuoteId: string | undefined;
}

/** Prices a payment from a currency to a payee. Throws if there is no price. */
export async function priceRequest(
  ctx: Ctx,
  connectors: Connectors,
  platform: PlatformRow,
  request: Request,
  { from, payee, firmQuoteId }: Direction,
): Promise<PaymentPrice> {
  const to = payee.currency;
  const lock = request.lockedCurrencySide;
  const currency = lock === 'SENDING' ? from : to;
  const terms = {
    lock,
    amount: { currency, amount: BigInt(request.lockedCurrencyAmount) },
    service: await serviceFeeFor(connectors, from, payee),
    platform: platformFeeFor(platform, request, from, to),
  };
  const firm =
    firmQuoteId === undefined
      ? null
      : await firmQuoteOf(ctx, connectors, terms, { id: firmQuoteId, from, to });
  const rate = firm ? { ...firm.rate, from, to } : await rateOf(connectors, from, to);
  return priceTerms(ctx, { ...terms, rate }, firm);
}

/** Prices a same-currency transfer without a platform fee. Other fees are deducted from the amount. */
export async function priceTransfer(
  ctx: Ctx,
  connectors: Connectors,
  payee: Payee,
  amount: Money,
): Promise<PaymentPrice> {
  const { currency } = amount;
  const service = await serviceFeeFor(connectors, currency, payee);
  const rate = parRateOf(currency);
  const money = await priceTerms(ctx, { lock: 'SENDING', amount, service, platform: NO_FEE, rate });
  return money.fees.amount > 0n ? money : { ...money, rateDetails: null };
}
