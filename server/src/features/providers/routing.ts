// Selects the provider of a transfer or card. Routes are evaluated in order of priority, then of cost. The
// result contains a verdict for each route, so that operators can simulate a selection and review an
// earlier selection.

import { countryOfAccount } from '../../catalog/accounts/account-country.ts';
import { isRail } from '../../catalog/rails/rails.ts';
import {
  type CutOff,
  type SettlementDates,
  settlementDates,
} from '../../catalog/rails/settlement-dates.ts';
import type { RailInstruction } from '../../connectors/ports/index.ts';
import type { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import type { Time } from '../../kernel/effects.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Reader } from '../../runtime/operation/context.ts';
import type { Verdict } from './choices.ts';
import type { Provider, ProviderDirectory } from './directory.ts';
import type { ProviderRouteRow, SubjectKind } from './store.ts';
import { limitOf, type Usage, usageOf } from './usage.ts';

/** The properties of a transfer or card that determine its provider. A card has no rail and no amount. */
export interface TransferFacts
  extends Pick<RailInstruction, 'platformId' | 'rail' | 'currency' | 'amount'> {
  environment: Mode;
  kind: SubjectKind;
  /** Country of the external account, or undefined if unknown. */
  country?: string | undefined;
}

export const factsOf = (instruction: RailInstruction, environment: Mode): TransferFacts => ({
  ...instruction,
  environment,
  country: countryOfAccount(instruction.account),
});

export interface RouteVerdict {
  route: ProviderRouteRow;
  verdict: Verdict;
  /** In minor units. Cost and dates are undefined if the route applies to other transfers. */
  cost?: bigint;
  cutOff?: CutOff | undefined;
  dates?: SettlementDates;
  /** Usage of the daily limit and of the prefunded balance. */
  usage?: Usage | undefined;
}

export interface Choice {
  /** Undefined if no route is selected. The built-in connector, if any, is then used. */
  selectedRoute: ProviderRouteRow | undefined;
  verdicts: RouteVerdict[];
}

const isIn = (value: bigint, min: bigint | null | undefined, max: bigint | null | undefined) =>
  (min == null || value >= min) && (max == null || value <= max);

const accepts = (condition: string | null, value: string | null | undefined) =>
  condition === null || condition === value;

/** Whether the route applies to the transfer. */
const matches = (route: ProviderRouteRow, facts: TransferFacts): boolean =>
  route.environment === facts.environment &&
  accepts(route.platform_id, facts.platformId) &&
  accepts(route.kind, facts.kind) &&
  accepts(route.rail, facts.rail) &&
  accepts(route.currency, facts.currency) &&
  accepts(route.country, facts.country) &&
  // The amounts of a route for cards limit authorizations by the provider and do not select cards.
  (facts.kind === 'card' || isIn(facts.amount, route.min_amount, route.max_amount));

type TransferOffer = NonNullable<Capabilities['transfers']>[number];

const toBigInt = (amount: number | undefined) =>
  amount === undefined ? undefined : BigInt(amount);

/**
 * Whether the offer includes the transfer. An unknown country matches, because the provider can reject the
 * transfer.
 */
const includes = (
  { kinds, rails, currencies, countries, minAmount, maxAmount }: TransferOffer,
  { kind, rail, currency, country, amount }: TransferFacts,
): boolean =>
  (kinds as readonly string[]).includes(kind) &&
  (rail === null || (rails as readonly string[]).includes(rail)) &&
  currencies.includes(currency) &&
  (countries === undefined || country === undefined || countries.includes(country)) &&
  isIn(amount, toBigInt(minAmount), toBigInt(maxAmount));

const isOffered = (capabilities: Capabilities | null, facts: TransferFacts): boolean =>
  facts.kind === 'card'
    ? capabilities?.cards === true
    : (capabilities?.transfers ?? []).some((offer) => includes(offer, facts));

const BASIS_POINTS = 10_000n;

/** Cost of a transfer over a route, rounded up to minor units. */
const costOf = (
  { cost_fixed, cost_basis_points }: ProviderRouteRow,
  { amount }: Pick<TransferFacts, 'amount'>,
): bigint => cost_fixed + (amount * BigInt(cost_basis_points) + BASIS_POINTS - 1n) / BASIS_POINTS;

type UsageByProvider = ReadonlyMap<string, Usage>;

function verdictOf(
  provider: Provider | undefined,
  facts: TransferFacts,
  usage: Usage | undefined,
  isUnavailable: boolean,
): Verdict {
  if (provider?.row.status !== 'ACTIVE') return 'PROVIDER_PAUSED';
  if (!isOffered(provider.capabilities, facts)) return 'NOT_OFFERED';
  const { perTransfer, perDay } = limitOf(provider, facts.currency) ?? {};
  if (perTransfer !== undefined && facts.amount > BigInt(perTransfer)) return 'OVER_LIMIT';
  if (perDay !== undefined && (usage?.sentToday ?? 0n) + facts.amount > BigInt(perDay)) {
    return 'OVER_DAILY_LIMIT';
  }
  if (usage?.available != null && facts.amount > usage.available) return 'OVER_BALANCE';
  return isUnavailable ? 'UNAVAILABLE' : 'SELECTED';
}

interface RoutingContext {
  facts: TransferFacts;
  directory: ProviderDirectory;
  usage: UsageByProvider;
  now: Time;
}

function evaluate(
  route: ProviderRouteRow,
  { facts, directory, usage, now }: RoutingContext,
): RouteVerdict {
  if (!matches(route, facts)) return { route, verdict: 'OTHER_TRANSFERS' };
  const { provider_id } = route;
  const provider =
    provider_id === null ? undefined : directory.current().providers.get(provider_id);
  const usageOfProvider = provider_id === null ? undefined : usage.get(provider_id);
  const cutOff = provider?.terms.cutOffs?.find((each) => each.rail === facts.rail);
  const rail = facts.rail !== null && isRail(facts.rail) ? facts.rail : null;
  const payment = { rail, currency: facts.currency, country: facts.country };
  const isUnavailable = provider_id !== null && directory.isUnavailable(provider_id);
  return {
    route,
    verdict:
      provider_id === null
        ? 'SELECTED'
        : verdictOf(provider, facts, usageOfProvider, isUnavailable),
    cost: costOf(route, facts),
    cutOff,
    dates: settlementDates(now, payment, cutOff),
    usage: usageOfProvider,
  };
}

/**
 * Orders by priority, then by cost. Within a priority, routes without a cost are last, because they
 * apply to other transfers.
 */
const compareVerdicts = (a: RouteVerdict, b: RouteVerdict): number => {
  const priorityDifference = a.route.priority - b.route.priority;
  if (priorityDifference !== 0) return priorityDifference;
  if (a.cost === undefined || b.cost === undefined) {
    return Number(a.cost === undefined) - Number(b.cost === undefined);
  }
  return a.cost < b.cost ? -1 : Number(a.cost > b.cost);
};

/** Selects a route for a transfer that has not been sent yet, or a card that is not ordered yet. */
function evaluateRoutes(context: RoutingContext): Choice {
  let selectedRoute: ProviderRouteRow | undefined;
  const { routes } = context.directory.current();
  const verdicts = routes
    .map((route) => evaluate(route, context))
    .sort(compareVerdicts)
    .map((routeVerdict): RouteVerdict => {
      if (routeVerdict.verdict !== 'SELECTED') return routeVerdict;
      if (!selectedRoute) {
        selectedRoute = routeVerdict.route;
        return routeVerdict;
      }
      const isEqual = selectedRoute.priority === routeVerdict.route.priority;
      return { ...routeVerdict, verdict: isEqual ? 'HIGHER_COST' : 'LOWER_PRIORITY' };
    });
  return { selectedRoute, verdicts };
}

/** Reads the usage of the providers whose routes match the transfer. */
async function readUsage(
  reader: Reader,
  facts: TransferFacts,
  directory: ProviderDirectory,
  now: Time,
): Promise<UsageByProvider> {
  const { routes, providers } = directory.current();
  const ids = new Set(
    routes.filter((each) => matches(each, facts)).map((each) => each.provider_id),
  );
  const usage = new Map<string, Usage>();
  for (const id of ids) {
    const provider = id === null ? undefined : providers.get(id);
    if (provider) usage.set(provider.row.id, await usageOf(reader, provider, facts, now));
  }
  return usage;
}

export async function chooseRoute(
  reader: Reader,
  facts: TransferFacts,
  directory: ProviderDirectory,
  now: Time,
): Promise<Choice> {
  const usage = await readUsage(reader, facts, directory, now);
  return evaluateRoutes({ facts, directory, usage, now });
}

/** Selects a route for a card that is not ordered yet. Limits and balances do not apply to cards. */
export const chooseCardRoute = (
  facts: TransferFacts,
  directory: ProviderDirectory,
  now: Time,
): Choice => evaluateRoutes({ facts, directory, usage: new Map(), now });
