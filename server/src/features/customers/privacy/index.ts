// What the operator's command, and whatever else serves the people behind customers, may use of privacy.
export { type Erasure, eraseCustomerData, listErasures } from './erase.ts';
export { exportCustomerData, openCustomerData, openDocumentFiles } from './export.ts';
export { type Found, findCustomers } from './find.ts';
export { erasurePersonalData } from './store.ts';
export type { AllPersonalData } from './subjects.ts';
