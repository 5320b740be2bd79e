// Public interface of contact verification.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { contactOperations } from './operations.ts';
import { contactPersonalData } from './personal-data.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const contactFeature = {
  operations: contactOperations,
  personalData: contactPersonalData,
} satisfies Feature;
