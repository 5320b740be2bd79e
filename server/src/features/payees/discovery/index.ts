// Exchange rates, institutions, and the fees of payments to wallets.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { discoveryOperations } from './operations.ts';

export { addNetworkFee } from './network-fee.ts';
export { midRate } from './rates.ts';

/** Parts that this feature adds to a server. */
export const discoveryFeature = {
  operations: discoveryOperations,
} satisfies Feature;
