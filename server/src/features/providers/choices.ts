// Names and states of providers, and results of the choice of a route.
import { ROUTE_VERDICTS } from './routing.ts';
import { PROVIDER_STATUSES } from './store.ts';

export const PROVIDER_CHOICES = {
  /** Pattern of the name of a provider, and the rule for people. */
  name: '^[a-z][a-z0-9-]{1,39}$',
  nameRule: 'must be 2 to 40 lower-case letters, digits and hyphens, and start with a letter',
  statuses: PROVIDER_STATUSES,
  /** Why a route is selected or not. */
  verdicts: ROUTE_VERDICTS,
} as const;
