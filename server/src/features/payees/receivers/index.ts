// What other features may use of receivers: a lookup found again (`payeeDiscoveryOf`), what it offers (`offerOf`,
// `checkOffer`), what must still be told of the payer (`missingPayerData`), and how a UMA address reads.
// A UMA payment takes its sender from `row.sender`; `row.receiver_customer_id` is set when the receiver is a
// customer of this server, and then no provider is asked.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { payeeDiscoverySweep } from './lookup.ts';
import { receiverOperations } from './operations.ts';
import { payeeDiscoveryPersonalData } from './personal-data.ts';

export { checkOffer, missingPayerData, type Offer, offerOf, payeeDiscoveryOf } from './lookup.ts';
export type { PayeeDiscoveryRow } from './store.ts';
export { rejectBlockedProvider } from './uma.ts';

/** What this feature adds to a server. */
export const receiverFeature = {
  operations: receiverOperations,
  sweeps: () => [payeeDiscoverySweep()],
  personalData: payeeDiscoveryPersonalData,
} satisfies Feature;
