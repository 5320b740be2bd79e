// What the composition lists of the links to the hosted verification page.
export { verificationPage } from './app.ts';
export { linkBearers } from './links.ts';
export { kycLinkOperations } from './operations.ts';
export { linkPersonalData } from './personal-data.ts';
export { linkStates } from './store.ts';
