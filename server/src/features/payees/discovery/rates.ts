// Mid rates for the price list, cached for five minutes. The cache prevents a thousand requests to
// the rate port for a list of a thousand prices. Quotes do not use the cache.
import type { RatePort } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { ConversionRate, Rate } from '../../../kernel/money.ts';

interface MidRate {
  rate: Rate;
  at: Time;
}

const IDENTITY_RATE: Rate = { num: 1n, den: 1n };

/** The mid rate of two currencies, or undefined if there is no rate. */
export const midRate = async (
  rates: RatePort | undefined,
  from: string,
  to: string,
): Promise<ConversionRate | undefined> => {
  const rate = from === to ? IDENTITY_RATE : (await rates?.rate(from, to))?.rate;
  return rate && { ...rate, from, to };
};

const CACHE_TTL_MS = 5 * 60_000;

/** A cache of the replies of a rate port. */
export function rateCache() {
  const caches = new WeakMap<RatePort, Map<string, MidRate>>();

  return async (
    port: RatePort,
    from: string,
    to: string,
    now: Time,
  ): Promise<MidRate | undefined> => {
    if (from === to) return { rate: IDENTITY_RATE, at: now };
    const rates = caches.get(port) ?? new Map<string, MidRate>();
    caches.set(port, rates);
    const pair = `${from} ${to}`;
    const cachedRate = rates.get(pair);
    if (cachedRate && cachedRate.at <= now && now - cachedRate.at < CACHE_TTL_MS) return cachedRate;
    const portRate = await port.rate(from, to);
    if (portRate) rates.set(pair, portRate);
    return portRate;
  };
}

export type RateCache = ReturnType<typeof rateCache>;
