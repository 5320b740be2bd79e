// Dependencies of the operations and jobs of stablecoins, and calls of the provider. Stablecoins
// are not available in an environment without a provider. Without a response of the provider, a
// request fails with SERVICE_UNAVAILABLE and a job is retried.

import type { Connectors } from '../../connectors/ports/index.ts';
import type { MintPort } from '../../connectors/ports/stablecoins.ts';
import type { Caller } from '../../kernel/caller.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';

export interface StablecoinDeps {
  connectors: (environment: Mode) => Connectors;
}

/** The stablecoin provider in the environment of the caller. */
export function mintOf({ caller }: { caller: Caller }, { connectors }: StablecoinDeps): MintPort {
  const { mint } = connectors(caller.environment);
  if (!mint)
    throw new Fault('NOT_IMPLEMENTED', 'No stablecoin provider is connected in this environment.');
  return mint;
}

/** Whether an error originates in this process. `fetch` throws TypeErrors with a cause. */
const isInternal = (error: unknown): boolean =>
  error instanceof Fault ||
  error instanceof RangeError ||
  (error instanceof TypeError && error.cause === undefined);

/** The provider's response while a client waits. Throws SERVICE_UNAVAILABLE without a response. */
export async function callProvider<R>(call: () => Promise<R>): Promise<R> {
  try {
    return await call();
  } catch (cause) {
    if (isInternal(cause)) throw cause;
    const reason = 'The stablecoin provider did not respond. Try again.';
    throw new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 5, cause });
  }
}
