// Mid rates as the price list sees them: taken from the rate port and kept for five minutes, so that a
// list of a thousand prices does not become a thousand questions. Quotes ask the port themselves.
import type { RatePort } from '../../../connectors/ports/index.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { ConversionRate, Rate } from '../../../kernel/money.ts';

interface Mid {
  rate: Rate;
  at: Time;
}

const SAME: Rate = { num: 1n, den: 1n };

/** The mid rate, undefined where there is none. */
export const midRate = async (
  rates: RatePort | undefined,
  from: string,
  to: string,
): Promise<ConversionRate | undefined> => {
  const rate = from === to ? SAME : (await rates?.rate(from, to))?.rate;
  return rate && { ...rate, from, to };
};

const CACHE_TTL_MS = 5 * 60_000;

/** A memory over a rate port. `now` is the asker's clock. */
export function rateCache() {
  const known = new WeakMap<RatePort, Map<string, Mid>>();

  return async (port: RatePort, from: string, to: string, now: Time): Promise<Mid | undefined> => {
    if (from === to) return { rate: SAME, at: now };
    const rates = known.get(port) ?? new Map<string, Mid>();
    known.set(port, rates);
    const pair = `${from} ${to}`;
    const kept = rates.get(pair);
    if (kept && kept.at <= now && now - kept.at < CACHE_TTL_MS) return kept;
    const fresh = await port.rate(from, to);
    if (fresh) rates.set(pair, fresh);
    return fresh;
  };
}

export type RateCache = ReturnType<typeof rateCache>;
