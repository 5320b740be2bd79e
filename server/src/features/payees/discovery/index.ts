// What other features may use: the rate between two currencies (`midRate`), and the fee on money that leaves
// over a network (`serviceFeeOver`).
import type { Feature } from '../../../runtime/operation/feature.ts';
import { discoveryOperations } from './operations.ts';

export { serviceFeeOver } from './network-fee.ts';
export { midRate } from './rates.ts';

/** What this feature adds to a server. */
export const discoveryFeature = {
  operations: discoveryOperations,
} satisfies Feature;
