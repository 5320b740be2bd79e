// The card issuer of an environment with providers. The provider of a card is selected once, before the
// order, and receives all calls about the card. Cards without a route are issued by the built-in issuer.
// The funds of a provider's card are in this ledger, so its funding debits are confirmed immediately.

import type { CardOrder, IssuerPort, ProviderIssuerPort } from '../../connectors/ports/cards.ts';
import { type AssignmentDeps, assignProvider, storedAssignment } from './assignment.ts';
import { chooseCardRoute } from './routing.ts';

interface RoutedIssuerDeps extends AssignmentDeps {
  /** The issuer of cards without a route, or undefined if the environment has none. */
  builtIn: IssuerPort | undefined;
}

type AssignedIssuer =
  | { kind: 'provider'; calls: ProviderIssuerPort; standInMax: bigint }
  | { kind: 'built-in'; issuer: IssuerPort };

const cardRouteFor = (
  { environment, directory, runtime }: RoutedIssuerDeps,
  { platformId, currency }: Pick<CardOrder, 'platformId' | 'currency'>,
) =>
  chooseCardRoute(
    { environment, platformId, currency, kind: 'card', rail: null, amount: 0n },
    directory,
    runtime().effects.now(),
  ).selectedRoute;

/**
 * The largest authorization that the provider may approve if this server does not respond, in minor
 * units. 0 if the route sets no amount, so that the provider declines.
 */
async function standInMaxOf(deps: RoutedIssuerDeps, cardId: string): Promise<bigint> {
  const assignment = await storedAssignment(deps, cardId);
  const routes = deps.directory.current().routes;
  const route = routes.find((each) => each.id === assignment?.route_id);
  return route?.kind === 'card' ? (route.max_amount ?? 0n) : 0n;
}

async function issuerOf(
  deps: RoutedIssuerDeps,
  cardId: string,
  providerId: string | null | undefined,
): Promise<AssignedIssuer> {
  if (providerId) {
    const provider = deps.directory.current().providers.get(providerId);
    if (!provider) throw new Error(`unknown provider ${providerId}`);
    const standInMax = await standInMaxOf(deps, cardId);
    return { kind: 'provider', calls: provider.port.cards, standInMax };
  }
  if (!deps.builtIn) throw new Error('the environment has no built-in card issuer');
  return { kind: 'built-in', issuer: deps.builtIn };
}

const issuerOfCard = async (deps: RoutedIssuerDeps, cardId: string): Promise<AssignedIssuer> =>
  issuerOf(deps, cardId, (await storedAssignment(deps, cardId))?.provider_id);

/** Whether the environment has an issuer: the built-in issuer, or a provider that issues cards. */
const hasIssuer = ({ directory, environment, builtIn }: RoutedIssuerDeps): boolean =>
  builtIn !== undefined ||
  [...directory.current().providers.values()].some(
    ({ row, capabilities }) => row.environment === environment && capabilities?.cards === true,
  );

function callsOf(deps: RoutedIssuerDeps): IssuerPort {
  const { builtIn } = deps;
  return {
    connect: (handler) => builtIn?.connect?.(handler),
    serves: (card) => builtIn !== undefined || Boolean(cardRouteFor(deps, card)?.provider_id),
    async issue(order) {
      const providerId = await assignProvider(deps, order, async () => {
        const selectedRoute = cardRouteFor(deps, order);
        if (!selectedRoute?.provider_id && !builtIn) {
          throw new Error(`no route selects a provider for the card ${order.id}`);
        }
        return { selectedRoute };
      });
      const assignedIssuer = await issuerOf(deps, order.id, providerId);
      if (assignedIssuer.kind === 'built-in') return assignedIssuer.issuer.issue(order);
      return assignedIssuer.calls.issue(order, assignedIssuer.standInMax);
    },
    async check(order, now) {
      const assignedIssuer = await issuerOfCard(deps, order.id);
      const issuer =
        assignedIssuer.kind === 'built-in' ? assignedIssuer.issuer : assignedIssuer.calls;
      return issuer.check(order, now);
    },
    async change(card) {
      const assignedIssuer = await issuerOfCard(deps, card.cardId);
      if (assignedIssuer.kind === 'built-in') return assignedIssuer.issuer.change?.(card);
      return assignedIssuer.calls.change(card, assignedIssuer.standInMax);
    },
    async details(card) {
      const assignedIssuer = await issuerOfCard(deps, card.cardId);
      const issuer =
        assignedIssuer.kind === 'built-in' ? assignedIssuer.issuer : assignedIssuer.calls;
      return issuer.details(card);
    },
    declineReason: (request) =>
      request.providerId === undefined ? builtIn?.declineReason?.(request) : undefined,
    accepts: (accountId, card) => builtIn?.accepts?.(accountId, card) ?? true,
    async debitFunding(debit) {
      const assignedIssuer = await issuerOfCard(deps, debit.cardId);
      return assignedIssuer.kind === 'built-in'
        ? assignedIssuer.issuer.debitFunding(debit)
        : { state: 'confirmed' };
    },
    async checkFundingDebit(debit, now) {
      const assignedIssuer = await issuerOfCard(deps, debit.cardId);
      return assignedIssuer.kind === 'built-in'
        ? assignedIssuer.issuer.checkFundingDebit(debit, now)
        : { state: 'confirmed' };
    },
  };
}

/** Returns a function that returns the issuer, or undefined while the environment has none. */
export function routedIssuer(deps: RoutedIssuerDeps): () => IssuerPort | undefined {
  const calls = callsOf(deps);
  return () => (hasIssuer(deps) ? calls : undefined);
}
