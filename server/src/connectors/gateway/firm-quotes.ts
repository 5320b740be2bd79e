// Firm quotes over the protocol.

import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { fractionOf } from '../../catalog/currencies/rate-table.ts';
import type { Rate } from '../../kernel/money.ts';
import { FirmQuoteReply, RedemptionState } from '../ports/providers/firm-quotes.ts';
import type { ProviderPort } from '../ports/providers/port.ts';
import { NOT_FOUND, type ProviderClient, QUICK_TIMEOUT_MS } from './client.ts';

const REDEEM_AFTER_S = 5;

/** Converts a rate of major units to a rate of minor units. */
function minorRate(text: string, from: string, to: string): Rate {
  const rate = fractionOf(text);
  const [fromUnit, toUnit] = [findCurrency(from), findCurrency(to)];
  if (!rate || !fromUnit || !toUnit)
    throw new Error(`the rate ${text} from ${from} to ${to} of the provider cannot be converted`);
  return {
    num: rate.num * 10n ** BigInt(toUnit.decimals),
    den: rate.den * 10n ** BigInt(fromUnit.decimals),
  };
}

export const firmQuotes = (client: ProviderClient): ProviderPort['firmQuotes'] => ({
  async request({ id: quoteId, from, to, side, amount }) {
    const body = { quoteId, from, to, side, amount: Number(amount) };
    const reply = await client.callOrNotFound(
      '/rates/quote',
      body,
      FirmQuoteReply,
      QUICK_TIMEOUT_MS,
    );
    if (reply === NOT_FOUND || reply.result === 'unavailable') return undefined;
    const { reference, rate, expiresAt } = reply;
    return { reference, rate: minorRate(rate, from, to), expiresAt: Date.parse(expiresAt) };
  },
  async redeem({ id: quoteId, reference, from, to, sold, bought }) {
    const amounts = { soldAmount: Number(sold), boughtAmount: Number(bought) };
    const body = { quoteId, reference, from, to, ...amounts };
    const reply = await client.call('/rates/redeem', body, RedemptionState);
    if (reply.state === 'rejected') return { state: 'rejected', reason: reply.reason };
    if (reply.state === 'pending') {
      const { checkAfterSeconds = REDEEM_AFTER_S } = reply;
      return { state: 'pending', checkAfterMs: checkAfterSeconds * 1_000 };
    }
    const { reference: exchangeReference, soldAmount, boughtAmount } = reply;
    const exchangedAmounts = { sold: BigInt(soldAmount), bought: BigInt(boughtAmount) };
    return { state: 'redeemed', reference: exchangeReference, ...exchangedAmounts };
  },
});
