// Public interface of privacy requests: search, export and erasure of personal data.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { erasurePersonalData } from './store.ts';

export { allErasures, beginErasure, eraseCustomerData, listErasures } from './erase.ts';
export {
  exportCustomerData,
  openCustomerData,
  openDocumentFiles,
  pageOfCustomerData,
} from './export.ts';
export { findCustomers } from './find.ts';
export { repeatErasures } from './repeat.ts';
export type { AllPersonalData } from './subjects.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const privacyFeature = { personalData: erasurePersonalData } satisfies Feature;
