// Public interface of hosted verification: links, and the page that they open.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { kycLinkOperations } from './operations.ts';
import { linkPersonalData } from './personal-data.ts';
import { linkStates } from './store.ts';

export { verificationPage } from './app.ts';
export { linkAuthenticator } from './links.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const kycLinkFeature = {
  operations: kycLinkOperations,
  personalData: linkPersonalData,
  states: { link: linkStates },
} satisfies Feature;
