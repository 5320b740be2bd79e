// Selects the provider of a transfer or card. Routes are evaluated in order of priority, and the result
// contains a verdict for each of them, so that an operator can simulate the selection.

import type { RailInstruction } from '../../connectors/ports/index.ts';
import type { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { ProviderDirectory } from './directory.ts';
import type { ProviderRouteRow, SubjectKind } from './store.ts';

/** The properties of a transfer or card that determine its provider. A card has no rail and no amount. */
export interface TransferFacts
  extends Pick<RailInstruction, 'platformId' | 'rail' | 'currency' | 'amount'> {
  environment: Mode;
  kind: SubjectKind;
}

/** Results of evaluating a route. */
export const ROUTE_VERDICTS = [
  'SELECTED',
  'OTHER_TRANSFERS',
  'PROVIDER_PAUSED',
  'NOT_OFFERED',
  'UNAVAILABLE',
  'LOWER_PRIORITY',
] as const;

interface RouteVerdict {
  route: ProviderRouteRow;
  verdict: (typeof ROUTE_VERDICTS)[number];
}

export interface Choice {
  /** Undefined if no route is selected: the built-in rail executes the transfer. */
  selected: ProviderRouteRow | undefined;
  verdicts: RouteVerdict[];
}

const isIn = (value: bigint, min: bigint | null | undefined, max: bigint | null | undefined) =>
  (min == null || value >= min) && (max == null || value <= max);

const accepts = (expected: string | null, value: string | null) =>
  expected === null || expected === value;

/** Whether the route applies to the transfer. */
const matches = (route: ProviderRouteRow, facts: TransferFacts): boolean =>
  route.environment === facts.environment &&
  accepts(route.platform_id, facts.platformId) &&
  accepts(route.kind, facts.kind) &&
  accepts(route.rail, facts.rail) &&
  accepts(route.currency, facts.currency) &&
  // The limit of a route for cards is that of the provider's own decisions.
  (facts.kind === 'card' || isIn(facts.amount, route.min_amount, route.max_amount));

type TransferOffer = NonNullable<Capabilities['transfers']>[number];

const big = (amount: number | undefined) => (amount === undefined ? undefined : BigInt(amount));

const offers = (
  { kinds, rails, currencies, minAmount, maxAmount }: TransferOffer,
  { kind, rail, currency, amount }: TransferFacts,
): boolean =>
  (kinds as readonly string[]).includes(kind) &&
  (rail === null || (rails as readonly string[]).includes(rail)) &&
  currencies.includes(currency) &&
  isIn(amount, big(minAmount), big(maxAmount));

const isOffered = (capabilities: Capabilities | null, facts: TransferFacts): boolean =>
  facts.kind === 'card'
    ? capabilities?.cards === true
    : (capabilities?.transfers ?? []).some((each) => offers(each, facts));

function verdictOf(
  route: ProviderRouteRow,
  facts: TransferFacts,
  directory: ProviderDirectory,
): RouteVerdict['verdict'] {
  if (!matches(route, facts)) return 'OTHER_TRANSFERS';
  if (route.provider_id === null) return 'SELECTED';
  const provider = directory.current().providers.get(route.provider_id);
  if (provider?.row.status !== 'ACTIVE') return 'PROVIDER_PAUSED';
  if (!isOffered(provider.capabilities, facts)) return 'NOT_OFFERED';
  return directory.isUnavailable(route.provider_id) ? 'UNAVAILABLE' : 'SELECTED';
}

/** Selects a route for a transfer that has not been sent yet, or a card that is not ordered yet. */
export function chooseRoute(facts: TransferFacts, directory: ProviderDirectory): Choice {
  let selected: ProviderRouteRow | undefined;
  const verdicts = directory.current().routes.map((route): RouteVerdict => {
    const verdict = verdictOf(route, facts, directory);
    if (verdict !== 'SELECTED') return { route, verdict };
    if (selected) return { route, verdict: 'LOWER_PRIORITY' };
    selected = route;
    return { route, verdict };
  });
  return { selected, verdicts };
}
