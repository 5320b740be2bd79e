// What other features may use of receivers: a lookup found again (`lookupOf`), what it offers (`offerOf`,
// `checkOffer`), what must still be told of the payer (`missingPayerData`), and how a UMA address reads.
// A UMA payment takes its sender from `row.sender`; `row.receiver_customer_id` is set when the receiver is a
// customer of this server, and then no provider is asked.
export {
  checkOffer,
  lookupOf,
  lookupSweep,
  missingPayerData,
  type Offer,
  offerOf,
} from './lookup.ts';
export { receiverOperations } from './operations.ts';
export { lookupPersonalData } from './personal-data.ts';
export type { LookupRow } from './store.ts';
export { refuseBlocked } from './uma.ts';
