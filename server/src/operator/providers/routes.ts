// `providers routes|add-route|delete-route|explain|messages`: routes of transfers to providers, and the
// messages that providers sent.
import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import { pageOfMessages, STORED_RESULTS } from '../../features/payments/provider-messages/index.ts';
import {
  createRoute,
  deleteRoute,
  explainRoute,
  listRoutes,
  PROVIDER_CHOICES,
} from '../../features/providers/index.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { managerOf } from './providers.ts';

type RouteView = ReturnType<typeof listRoutes>[number] & {
  [field: string]: string | number | null | undefined;
};

const { kinds } = PROVIDER_CHOICES;
type Kind = (typeof kinds)[number];
type RouteKind = (typeof PROVIDER_CHOICES.routeKinds)[number];

const shown = (value: string | number | null | undefined) => `${value ?? 'any'}`;

function amountsOf({ minAmount, maxAmount }: RouteView): string {
  if (minAmount === undefined && maxAmount === undefined) return 'any';
  return `${minAmount ?? 0} to ${maxAmount ?? 'any'}`;
}

const ROUTE_HEADS = ['ROUTE', 'PRIORITY', 'PROVIDER', 'ENVIRONMENT', 'PLATFORM', 'KIND', 'RAIL'];

const cellsOf = (route: RouteView): string[] => [
  route.routeId,
  `${route.priority}`,
  route.providerId ?? 'built-in',
  route.environment,
  ...[route.platformId, route.kind, route.rail, route.currency].map(shown),
  amountsOf(route),
];

const routeTable = (routes: readonly RouteView[]) =>
  table(
    [...ROUTE_HEADS, 'CURRENCY', 'AMOUNT'].map((head) => ({ head })),
    routes.map(cellsOf),
  );

async function list(system: System): Promise<Output> {
  const json = listRoutes(await managerOf(system)) as RouteView[];
  return { json, text: routeTable(json) };
}

function integerIn(args: CommandArgs, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw usageError(`--${name} must be a positive integer`);
}

async function add(system: System, args: CommandArgs): Promise<Output> {
  const providerId = args.required('provider');
  const route = await createRoute(await managerOf(system), {
    environment: args.required('environment') as Mode,
    providerId: providerId === 'built-in' ? null : providerId,
    priority: integerIn(args, 'priority') ?? 100,
    platformId: args.text('platform'),
    kind: args.text('kind') as RouteKind | undefined,
    rail: args.text('rail'),
    currency: args.text('currency'),
    minAmount: integerIn(args, 'min-amount'),
    maxAmount: integerIn(args, 'max-amount'),
  });
  return { json: route, text: routeTable([route as RouteView]) };
}

async function remove(system: System, args: CommandArgs): Promise<Output> {
  const route = await deleteRoute(await managerOf(system), args.required('route'));
  return { json: route, text: `Deleted ${route.routeId}.\n` };
}

async function explain(system: System, args: CommandArgs): Promise<Output> {
  const choice = explainRoute(await managerOf(system), {
    environment: args.required('environment') as Mode,
    platformId: args.required('platform'),
    kind: args.required('kind') as Kind,
    rail: args.text('rail') ?? null,
    currency: args.required('currency'),
    amount: BigInt(integerIn(args, 'amount') ?? 1),
  });
  const routes = choice.routes as (RouteView & { verdict: string })[];
  const text = table(
    ['VERDICT', ...ROUTE_HEADS, 'CURRENCY', 'AMOUNT'].map((head) => ({ head })),
    routes.map((route) => [route.verdict, ...cellsOf(route)]),
  );
  const result = choice.providerId ?? 'the built-in rail';
  return { json: choice, text: `Executed by ${result}.\n\n${text}` };
}

async function messages(system: System, args: CommandArgs): Promise<Output> {
  const { data } = await pageOfMessages(system.runtime, {
    providerId: args.text('provider'),
    result: args.text('result') as (typeof STORED_RESULTS)[number] | undefined,
    limit: limitIn(args),
  });
  const heads = ['RECEIVED', 'PROVIDER', 'MESSAGE', 'TYPE', 'RESULT', 'TRANSACTION', 'PROBLEM'];
  const text = table(
    heads.map((head) => ({ head })),
    data.map((each) => [
      each.receivedAt,
      each.providerId,
      each.messageId,
      each.type ?? '-',
      each.result,
      each.transactionId ?? '-',
      each.problem ?? '',
    ]),
  );
  return { json: data, text };
}

const ENVIRONMENT: Flags = {
  environment: {
    value: 'ENVIRONMENT',
    required: true,
    choices: MODES,
    help: 'sandbox or production',
  },
};
const RAIL = { value: 'RAIL', choices: PAYMENT_RAILS };

export const providerRouteVerbs: readonly Verb[] = [
  {
    noun: 'providers',
    verb: 'routes',
    summary: 'List the routes that select the provider of a transfer',
    flags: {},
    run: list,
  },
  {
    noun: 'providers',
    verb: 'add-route',
    summary: 'Add a route for new transfers',
    flags: {
      ...ENVIRONMENT,
      provider: {
        value: 'PROVIDER',
        required: true,
        help: 'Name of the provider, or built-in for the built-in rail',
      },
      priority: {
        value: 'NUMBER',
        help: 'The matching route with the lowest number is selected (100)',
      },
      platform: { value: 'PLATFORM', help: 'Only transfers of this platform (all)' },
      kind: {
        value: 'KIND',
        choices: PROVIDER_CHOICES.routeKinds,
        help: 'Only this kind of transfer, cards, or a service (all transfers)',
      },
      rail: { ...RAIL, help: 'Only transfers over this rail (all)' },
      currency: { value: 'CURRENCY', help: 'Only transfers in this currency (all)' },
      'min-amount': { value: 'AMOUNT', help: 'Minimum amount, in minor units' },
      'max-amount': {
        value: 'AMOUNT',
        help: 'Maximum amount, in minor units; for cards, the maximum approved by the provider alone (0)',
      },
    },
    run: add,
  },
  {
    noun: 'providers',
    verb: 'delete-route',
    summary: 'Delete a route',
    flags: { route: { value: 'ROUTE', required: true, help: 'ID of the route' } },
    positional: 'route',
    run: remove,
  },
  {
    noun: 'providers',
    verb: 'explain',
    summary: 'Show which provider would execute a transfer, and why',
    flags: {
      ...ENVIRONMENT,
      platform: { value: 'PLATFORM', required: true, help: 'Platform of the transfer' },
      kind: { value: 'KIND', required: true, choices: kinds, help: 'Kind of transfer, or card' },
      currency: { value: 'CURRENCY', required: true, help: 'Currency of the transfer' },
      rail: { ...RAIL, help: 'Rail of the transfer' },
      amount: { value: 'AMOUNT', help: 'Amount of the transfer, in minor units (1)' },
    },
    run: explain,
  },
  {
    noun: 'providers',
    verb: 'messages',
    summary: 'List the messages that providers sent, newest first',
    flags: {
      provider: { value: 'PROVIDER', help: 'Filter by provider (all)' },
      result: { value: 'RESULT', choices: STORED_RESULTS, help: 'Filter by result (all)' },
      ...LIMIT,
    },
    run: messages,
  },
];
