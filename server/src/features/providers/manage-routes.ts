// Management of routes by operators, and simulation of the selection for a transfer.

import { SERVICES } from '../../connectors/ports/providers/services.ts';
import { iso } from '../../kernel/effects.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { INSTALLATION } from '../tenancy/platform/index.ts';
import { providerNotFound } from './keys.ts';
import type { ManagerParts } from './manage.ts';
import { chooseRoute, type TransferFacts } from './routing.ts';
import { type ProviderRouteRow, providerRoutes, providers, type RouteKind } from './store.ts';

const MAX_ROUTES = 500;

export interface NewRoute {
  environment: Mode;
  /** Null for the built-in rail. */
  providerId: string | null;
  priority: number;
  platformId?: string | undefined;
  kind?: RouteKind | undefined;
  rail?: string | undefined;
  currency?: string | undefined;
  minAmount?: number | undefined;
  maxAmount?: number | undefined;
}

const withoutNull = (fields: Record<string, string | number | null>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

const presentRoute = (row: ProviderRouteRow) => ({
  routeId: row.id,
  environment: row.environment,
  providerId: row.provider_id,
  priority: row.priority,
  ...withoutNull({
    platformId: row.platform_id,
    kind: row.kind,
    rail: row.rail,
    currency: row.currency,
    minAmount: row.min_amount === null ? null : Number(row.min_amount),
    maxAmount: row.max_amount === null ? null : Number(row.max_amount),
  }),
  createdAt: iso(row.created_at),
});

/** Fields of a route that select transfers. */
const TRANSFER_ONLY = ['platformId', 'rail', 'currency', 'minAmount', 'maxAmount'] as const;

const isService = (kind: RouteKind | undefined): boolean =>
  (SERVICES as readonly (string | undefined)[]).includes(kind);

/** The route of a service has a provider and applies to the whole environment. */
function validateService(route: NewRoute): void {
  if (!isService(route.kind)) return;
  const errors: FieldError[] = TRANSFER_ONLY.filter((field) => route[field] !== undefined).map(
    (field) => ({ field, message: `does not apply to the service ${route.kind}` }),
  );
  if (route.providerId === null) {
    errors.push({ field: 'providerId', message: `is required for the service ${route.kind}` });
  }
  if (errors.length > 0) throw invalid(errors);
}

/** Throws NOT_FOUND for an unknown provider. */
export async function createRoute({ runtime, directory }: ManagerParts, route: NewRoute) {
  const { minAmount, maxAmount, currency } = route;
  validateService(route);
  const hasLimit = minAmount !== undefined || maxAmount !== undefined;
  if (hasLimit && currency === undefined)
    throw invalidField('currency', 'is required with minAmount or maxAmount');
  if (minAmount !== undefined && maxAmount !== undefined && minAmount > maxAmount) {
    throw invalidField('maxAmount', 'must not be less than minAmount');
  }
  const row = await operate(runtime, INSTALLATION, async (ctx) => {
    if (directory.current().routes.length >= MAX_ROUTES) {
      throw new Fault(
        'CONFLICT',
        `There can be at most ${MAX_ROUTES} routes. Delete a route first.`,
      );
    }
    if (route.providerId !== null) {
      const provider = await ctx.read(providers, route.providerId);
      if (!provider) throw providerNotFound();
      if (provider.environment !== route.environment) {
        throw invalidField(
          'environment',
          `must be the environment of the provider: ${provider.environment}`,
        );
      }
    }
    return ctx.insert(providerRoutes, {
      id: ctx.id('ProviderRoute'),
      provider_id: route.providerId,
      environment: route.environment,
      priority: route.priority,
      platform_id: route.platformId ?? null,
      kind: route.kind ?? null,
      rail: route.rail ?? null,
      currency: currency ?? null,
      min_amount: minAmount === undefined ? null : BigInt(minAmount),
      max_amount: maxAmount === undefined ? null : BigInt(maxAmount),
      created_at: ctx.now,
      updated_at: ctx.now,
    });
  });
  await directory.refresh();
  return presentRoute(row);
}

/** All routes, in order of evaluation. */
export const listRoutes = ({ directory }: ManagerParts) =>
  directory.current().routes.map(presentRoute);

/** Throws NOT_FOUND. */
export async function deleteRoute({ runtime, directory }: ManagerParts, routeId: string) {
  const row = await operate(runtime, INSTALLATION, async (ctx) => {
    const route = await ctx.read(providerRoutes, routeId);
    if (!route) throw new Fault('NOT_FOUND', 'Route not found.');
    ctx.remove(providerRoutes, route);
    return route;
  });
  await directory.refresh();
  return presentRoute(row);
}

/** Returns the provider that would execute a transfer now, with a verdict per route. Stores nothing. */
export function explainRoute({ directory }: ManagerParts, facts: TransferFacts) {
  const { selected, verdicts } = chooseRoute(facts, directory);
  return {
    providerId: selected?.provider_id ?? null,
    routeId: selected?.id ?? null,
    routes: verdicts.map(({ route, verdict }) => ({ ...presentRoute(route), verdict })),
  };
}
