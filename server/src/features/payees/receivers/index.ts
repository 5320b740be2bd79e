// Payee discovery (lookups in the API): the currencies and limits of a receiver, and the sender
// data that it requires. The row of a payee discovery contains the UMA address of the sender. Its
// `receiver_customer_id` is set for a customer of this server. A customer of the same platform is
// paid without a UMA provider.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { receiverOperations } from './operations.ts';
import { payeeDiscoverySweep } from './payee-discovery.ts';
import { payeeDiscoveryPersonalData } from './personal-data.ts';

export {
  checkOffer,
  missingPayerData,
  type Offer,
  offerOf,
  payeeDiscoveryOf,
} from './payee-discovery.ts';
export type { PayeeDiscoveryRow } from './store.ts';
export { rejectBlockedProvider } from './uma.ts';

/** Parts that this feature adds to a server. */
export const receiverFeature = {
  operations: receiverOperations,
  sweeps: () => [payeeDiscoverySweep()],
  personalData: payeeDiscoveryPersonalData,
} satisfies Feature;
