// Constraints on provider names, and the statuses, kinds and route verdicts that interfaces list.
import { TRANSFER_KINDS } from '../../connectors/ports/providers/protocol.ts';
import { SERVICES } from '../../connectors/ports/providers/services.ts';
import { PROVIDER_STATUSES } from './store.ts';

/** Results of evaluating a route. */
const ROUTE_VERDICTS = [
  'SELECTED',
  'OTHER_TRANSFERS',
  'PROVIDER_PAUSED',
  'NOT_OFFERED',
  'OVER_LIMIT',
  'OVER_DAILY_LIMIT',
  'OVER_BALANCE',
  'UNAVAILABLE',
  'HIGHER_COST',
  'LOWER_PRIORITY',
] as const;
export type Verdict = (typeof ROUTE_VERDICTS)[number];

export const PROVIDER_CHOICES = {
  /** Pattern of a provider name, and the rule for error messages. */
  name: '^[a-z][a-z0-9-]{1,39}$',
  nameRule: 'must be 2 to 40 lower-case letters, digits and hyphens, and start with a letter',
  /** Kinds of transfers, and cards: each of these has a stored provider. */
  kinds: [...TRANSFER_KINDS, 'card'],
  statuses: PROVIDER_STATUSES,
  /** Kinds of transfers, cards and services. */
  routeKinds: [...TRANSFER_KINDS, 'card', ...SERVICES],
  verdicts: ROUTE_VERDICTS,
} as const;
