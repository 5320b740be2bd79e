// Values of the state of a provider and of the choice of a route.
import { ROUTE_VERDICTS } from './routing.ts';
import { PROVIDER_STATUSES } from './store.ts';

export const PROVIDER_CHOICES = {
  statuses: PROVIDER_STATUSES,
  /** Why a route is selected or not. */
  verdicts: ROUTE_VERDICTS,
} as const;
