// Presentation of routes, verdicts and stored choices for operators.
import type { CutOff } from '../../catalog/rails/settlement-dates.ts';
import { iso } from '../../kernel/effects.ts';
import type { Verdict } from './choices.ts';
import type { FileRoute } from './configuration/contract.ts';
import type { Choice, RouteVerdict } from './routing.ts';
import type { ProviderRouteRow } from './store.ts';

const omitNull = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

const numberOrNull = (value: bigint | null) => (value === null ? null : Number(value));

/** The fields of the request that creates the route. */
export const routeFields = (row: ProviderRouteRow): FileRoute => ({
  environment: row.environment,
  providerId: row.provider_id,
  priority: row.priority,
  ...omitNull({
    platformId: row.platform_id,
    kind: row.kind,
    rail: row.rail,
    currency: row.currency,
    country: row.country,
    minAmount: numberOrNull(row.min_amount),
    maxAmount: numberOrNull(row.max_amount),
    costFixed: row.cost_fixed === 0n ? null : Number(row.cost_fixed),
    costBasisPoints: row.cost_basis_points === 0 ? null : row.cost_basis_points,
  }),
});

export const presentRoute = (row: ProviderRouteRow) => ({
  routeId: row.id,
  ...routeFields(row),
  createdAt: iso(row.created_at),
});

/** Maximum number of verdicts that are stored with a transfer. */
const MAX_STORED = 20;

/** A route with the reason why it is selected or not. */
export interface VerdictView extends ReturnType<typeof presentRoute> {
  verdict: Verdict;
  cost?: number;
  cutOff?: CutOff;
  startsOn?: string;
  expectedOn?: string;
  isAfterCutOff?: boolean;
  calendars?: string[];
  incompleteCalendars?: string[];
  sentToday?: number;
  availableBalance?: number;
}

export function presentVerdict(routeVerdict: RouteVerdict): VerdictView {
  const { route, verdict, cost, cutOff, dates, usage } = routeVerdict;
  return {
    ...presentRoute(route),
    verdict,
    ...(cost === undefined ? {} : { cost: Number(cost) }),
    ...(cutOff === undefined ? {} : { cutOff: { time: cutOff.time, timeZone: cutOff.timeZone } }),
    ...(dates === undefined
      ? {}
      : {
          startsOn: dates.startsOn,
          expectedOn: dates.expectedOn,
          isAfterCutOff: dates.isAfterCutOff,
          calendars: [...dates.calendars],
          incompleteCalendars: [...dates.incomplete],
        }),
    ...(usage === undefined ? {} : { sentToday: Number(usage.sentToday) }),
    ...(usage?.available == null ? {} : { availableBalance: Number(usage.available) }),
  };
}

/** Serializes the verdicts of a choice, without routes that apply to other transfers. */
export const storedChoice = ({ verdicts }: Choice): string =>
  JSON.stringify(
    verdicts
      .filter(({ verdict }) => verdict !== 'OTHER_TRANSFERS')
      .slice(0, MAX_STORED)
      .map(presentVerdict),
  );
