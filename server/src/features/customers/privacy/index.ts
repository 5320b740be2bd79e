// What the operator's command, and whatever else serves the people behind customers, may use of privacy.
export { eraseCustomerData, listErasures } from './erase.ts';
export { exportCustomerData, openCustomerData, openDocumentFiles } from './export.ts';
export { findCustomers } from './find.ts';
export { erasurePersonalData } from './store.ts';
export type { AllPersonalData } from './subjects.ts';
