// Exchange rates.

import type { Time } from '../../kernel/effects.ts';
import type { Rate } from '../../kernel/money.ts';

export interface RatePort {
  /** Mid rate from minor unit to minor unit; undefined if there is none. */
  rate(from: string, to: string): Promise<{ rate: Rate; at: Time } | undefined>;
}
