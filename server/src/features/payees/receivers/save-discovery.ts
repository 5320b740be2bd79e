// The common part of both kinds of payee discovery. Estimates the rate of each currency, and stores
// the payee discovery for a later quote. Currencies without a rate are omitted.

import type { CounterpartyFieldDefinition } from '../../../catalog/accounts/field-names.ts';
import { currencyView, findCurrency } from '../../../catalog/currencies/currencies.ts';
import { wholeUnitRate } from '../../../catalog/currencies/money-format.ts';
import type { RatePort } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type ConversionRate, MAX_AMOUNT, toDecimal } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { midRate } from '../discovery/index.ts';
import { DISCOVERY_TTL_MS, type Offer } from './payee-discovery.ts';
import type { Sender } from './sender.ts';
import { payeeDiscoveries } from './store.ts';

export interface DiscoveryResult {
  kind: 'UMA' | 'ACCOUNT';
  receiver: string;
  receiverCustomerId?: string | undefined;
  offers: readonly Offer[];
  requiredFields: readonly CounterpartyFieldDefinition[];
}

const MAX_DIGITS = 18;

/** Major units of the currency `to` per major unit of the currency `from`. */
function wholeUnits({ num, den, from, to }: ConversionRate): number {
  const fullRate = wholeUnitRate({ currency: to, amount: num }, { currency: from, amount: den });
  return Number(toDecimal(fullRate, MAX_DIGITS));
}

const raiseToMinimum = (amount: bigint) => (amount < 1n ? 1n : amount);
const reduceToMaximum = (amount: bigint) => (amount > MAX_AMOUNT ? MAX_AMOUNT : amount);

async function priceOffers(rates: RatePort | undefined, from: string, offers: readonly Offer[]) {
  const supportedOffers = offers.filter((offer) => findCurrency(offer.currency));
  const pricedOffers = await Promise.all(
    supportedOffers.map(async ({ currency, min, max }) => {
      const rate = await midRate(rates, from, currency);
      if (!rate) return undefined;
      const estimatedExchangeRate = wholeUnits(rate);
      const range = { min: Number(raiseToMinimum(min)), max: Number(reduceToMaximum(max)) };
      return { code: currency, estimatedExchangeRate, ...range };
    }),
  );
  return pricedOffers.filter((each) => each !== undefined);
}

/** Stages the payee discovery and returns the fields that both kinds of reply contain. */
export async function saveDiscovery(
  ctx: Ctx,
  rates: RatePort | undefined,
  sender: Sender,
  discovery: DiscoveryResult,
) {
  const currencies = await priceOffers(rates, sender.currency, discovery.offers);
  if (currencies.length === 0) {
    const reason =
      `No exchange rate from ${sender.currency} to a currency of the receiver is available. ` +
      'Repeat the request later.';
    throw new Fault('QUOTE_RATE_UNAVAILABLE', reason);
  }
  const requiredFields = [...discovery.requiredFields];
  const row = ctx.insert(payeeDiscoveries, {
    id: ctx.id('Lookup'),
    platform_id: ctx.caller.platformId,
    kind: discovery.kind,
    receiver: discovery.receiver,
    receiver_customer_id: discovery.receiverCustomerId,
    sender: sender.address,
    customer_id: sender.customer?.id,
    currencies: currencies.map(({ code, min, max }) => ({ code, min, max })),
    required_payer_data: requiredFields,
    expires_at: ctx.now + DISCOVERY_TTL_MS,
    created_at: ctx.now,
  });
  return {
    supportedCurrencies: currencies.map(({ code, ...otherFields }) => ({
      currency: currencyView(code),
      ...otherFields,
    })),
    requiredPayerDataFields: requiredFields,
    lookupId: row.id,
  };
}
