// Exchange rates of the sandbox: the fixed reference rates at the current time. The rates are
// constant, so results are reproducible.
import { referenceRate } from '../../../catalog/currencies/reference-rates.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { RatePort } from '../../ports/index.ts';

export const sandboxRates = (now: () => Time): RatePort => ({
  rate: async (from, to) => {
    const rate = referenceRate(from, to);
    return rate && { rate, at: now() };
  },
});
