// Management of routes by operators, and explanations of the route of a transfer.

import { SERVICES } from '../../connectors/ports/providers/services.ts';
import { iso } from '../../kernel/effects.ts';
import { Fault, type FieldError, invalid, invalidField } from '../../kernel/fault.ts';
import type { Mode } from '../../kernel/mode.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { INSTALLATION } from '../tenancy/platform/index.ts';
import { providerNotFound } from './keys.ts';
import type { ManagerDeps } from './manage.ts';
import { presentRoute, presentVerdict, type VerdictView } from './present.ts';
import { chooseRoute, type TransferFacts } from './routing.ts';
import { type ProviderRouteRow, providerRoutes, providers, type RouteKind } from './store.ts';
import { transferById } from './usage.ts';

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
  country?: string | undefined;
  minAmount?: number | undefined;
  maxAmount?: number | undefined;
  costFixed?: number | undefined;
  costBasisPoints?: number | undefined;
}

/** Fields that routes of services cannot have. */
const TRANSFER_FIELD_NAMES = [
  ...(['platformId', 'rail', 'currency', 'country', 'minAmount', 'maxAmount'] as const),
  ...(['costFixed', 'costBasisPoints'] as const),
];

const isService = (kind: RouteKind | undefined): boolean =>
  (SERVICES as readonly (string | undefined)[]).includes(kind);

/** The route of a service must have a provider, and cannot be limited to some transfers. */
function serviceErrors(route: NewRoute): FieldError[] {
  if (!isService(route.kind)) return [];
  const errors: FieldError[] = TRANSFER_FIELD_NAMES.filter(
    (field) => route[field] !== undefined,
  ).map((field) => ({ field, message: `must be absent for the service ${route.kind}` }));
  if (route.providerId === null) {
    errors.push({ field: 'providerId', message: `is required for the service ${route.kind}` });
  }
  return errors;
}

/** Errors of a route that matches the schema. */
export function routeErrors(route: NewRoute): FieldError[] {
  const { minAmount, maxAmount, currency, costFixed } = route;
  const hasLimit = minAmount !== undefined || maxAmount !== undefined;
  const errors = serviceErrors(route);
  if (isService(route.kind)) return errors;
  if (hasLimit && currency === undefined) {
    errors.push({ field: 'currency', message: 'is required with minAmount or maxAmount' });
  } else if (costFixed && currency === undefined) {
    errors.push({ field: 'currency', message: 'is required with costFixed' });
  }
  if (minAmount !== undefined && maxAmount !== undefined && minAmount > maxAmount) {
    errors.push({ field: 'maxAmount', message: 'must not be less than minAmount' });
  }
  return errors;
}

/** Returns the row of a new route. */
export const routeRow = (ctx: Ctx, route: NewRoute): Omit<ProviderRouteRow, 'version'> => ({
  id: ctx.id('ProviderRoute'),
  provider_id: route.providerId,
  environment: route.environment,
  priority: route.priority,
  platform_id: route.platformId ?? null,
  kind: route.kind ?? null,
  rail: route.rail ?? null,
  currency: route.currency ?? null,
  country: route.country ?? null,
  cost_fixed: BigInt(route.costFixed ?? 0),
  cost_basis_points: route.costBasisPoints ?? 0,
  min_amount: route.minAmount === undefined ? null : BigInt(route.minAmount),
  max_amount: route.maxAmount === undefined ? null : BigInt(route.maxAmount),
  created_at: ctx.now,
  updated_at: ctx.now,
});

/** Throws INVALID_INPUT, NOT_FOUND for an unknown provider, and CONFLICT for too many routes. */
export async function createRoute({ runtime, directory }: ManagerDeps, route: NewRoute) {
  const errors = routeErrors(route);
  if (errors.length > 0) throw invalid(errors);
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
          `must be ${provider.environment}, the environment of the provider`,
        );
      }
    }
    return ctx.insert(providerRoutes, routeRow(ctx, route));
  });
  await directory.refresh();
  return presentRoute(row);
}

/** All routes, in order of priority. */
export const listRoutes = ({ directory }: ManagerDeps) =>
  directory.current().routes.map(presentRoute);

/** Returns the deleted route. Throws NOT_FOUND. */
export async function deleteRoute({ runtime, directory }: ManagerDeps, routeId: string) {
  const row = await operate(runtime, INSTALLATION, async (ctx) => {
    const route = await ctx.read(providerRoutes, routeId);
    if (!route) throw new Fault('NOT_FOUND', 'Route not found.');
    ctx.remove(providerRoutes, route);
    return route;
  });
  await directory.refresh();
  return presentRoute(row);
}

/** Returns the provider that would execute a transfer now, with a verdict per route. Nothing is stored. */
export async function explainRoute({ runtime, directory }: ManagerDeps, facts: TransferFacts) {
  const now = runtime.effects.now();
  const { selectedRoute, verdicts } = await chooseRoute(runtime.db, facts, directory, now);
  return {
    providerId: selectedRoute?.provider_id ?? null,
    routeId: selectedRoute?.id ?? null,
    routes: verdicts.map(presentVerdict),
  };
}

/** Suffixes of the IDs of the transfers of a transaction: payout, debit and refund. */
const SUFFIXES = ['', '/pull', '/refund'];

/**
 * Returns the verdicts that were stored when the providers of the transfers of a transaction were selected.
 * Empty if no transfer was sent, or if there were no routes.
 */
export async function explainTransaction(
  { runtime }: { runtime: Pick<Runtime, 'db'> },
  transactionId: string,
) {
  const ids = SUFFIXES.map((suffix) => `${transactionId}${suffix}`);
  const rows = await Promise.all(ids.map((id) => transferById(runtime.db, id)));
  const data = rows.flatMap((row) =>
    row === undefined
      ? []
      : [
          {
            transferId: row.id,
            platformId: row.platform_id,
            kind: row.kind,
            amount: row.amount === null ? null : Number(row.amount),
            currency: row.currency,
            providerId: row.provider_id,
            routeId: row.route_id,
            outcome: row.outcome,
            chosenAt: iso(row.created_at),
            routes: row.choice === null ? [] : (JSON.parse(row.choice) as VerdictView[]),
          },
        ],
  );
  return { data };
}
