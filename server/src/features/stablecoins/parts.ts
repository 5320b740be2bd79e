// What the operations and jobs of stablecoins are made with, and how a provider is asked: where a
// platform's environment has none its stablecoins are not offered, and one that gives no answer is asked
// again later.

import type { Connectors } from '../../connectors/ports/index.ts';
import type { MintPort } from '../../connectors/ports/stablecoins.ts';
import type { Caller } from '../../kernel/caller.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';

export interface StablecoinParts {
  connectors: (environment: Mode) => Connectors;
}

/** Whoever issues stablecoins in the environment of the caller. */
export function mintOf({ caller }: { caller: Caller }, { connectors }: StablecoinParts): MintPort {
  const { mint } = connectors(caller.environment);
  if (!mint) throw new Fault('NOT_IMPLEMENTED', 'No provider of stablecoins is connected here.');
  return mint;
}

/** A refusal, or a mistake in code; `fetch` alone has a TypeError of its own, which says why. */
const isOurs = (error: unknown): boolean =>
  error instanceof Fault ||
  error instanceof RangeError ||
  (error instanceof TypeError && error.cause === undefined);

/** What a provider answered while a client waits; SERVICE_UNAVAILABLE where it did not. */
export async function answerOf<R>(ask: () => Promise<R>): Promise<R> {
  try {
    return await ask();
  } catch (cause) {
    if (isOurs(cause)) throw cause;
    const reason = 'The provider of the stablecoin did not answer. Try again.';
    throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 5, cause });
  }
}
