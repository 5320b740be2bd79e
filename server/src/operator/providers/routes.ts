// `providers routes|add-route|delete-route|explain|messages`: routes of transfers to providers, and
// the messages that providers sent.
import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import { pageOfMessages, STORED_RESULTS } from '../../features/payments/provider-messages/index.ts';
import {
  PROVIDER_CHOICES,
  PROVIDER_SCHEMAS,
  routeManagement,
} from '../../features/providers/index.ts';
import { Fault } from '../../kernel/fault.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { managerOf } from './providers.ts';

type RouteView = ReturnType<typeof routeManagement.list>[number];
type ExplainedRoute = Awaited<ReturnType<typeof routeManagement.explain>>['routes'][number];

const { kinds } = PROVIDER_CHOICES;
const { NEW_ROUTE } = PROVIDER_SCHEMAS;
type Kind = (typeof kinds)[number];
type RouteKind = (typeof PROVIDER_CHOICES.routeKinds)[number];

const textOf = (value: string | number | null | undefined) => `${value ?? 'any'}`;

function amountsOf({ minAmount, maxAmount }: RouteView): string {
  if (minAmount === undefined && maxAmount === undefined) return 'any';
  return `${minAmount ?? 0} to ${maxAmount ?? 'any'}`;
}

const ROUTE_HEADS = ['ROUTE', 'PRIORITY', 'PROVIDER', 'ENVIRONMENT', 'PLATFORM', 'KIND', 'RAIL'];
const CONDITION_HEADS = ['CURRENCY', 'COUNTRY', 'AMOUNT'];

const cellsOf = (route: RouteView): string[] => [
  route.routeId,
  `${route.priority}`,
  route.providerId ?? 'built-in',
  route.environment,
  ...[route.platformId, route.kind, route.rail, route.currency, route.country].map(textOf),
  amountsOf(route),
];

/** Fixed cost and basis points. */
const costTerms = ({ costFixed = 0, costBasisPoints = 0 }: RouteView) =>
  `${costFixed} + ${costBasisPoints} bp`;

const routeTable = (routes: readonly RouteView[]) =>
  table(
    [...ROUTE_HEADS, ...CONDITION_HEADS, 'COST'],
    routes.map((each) => [...cellsOf(each), costTerms(each)]),
  );

async function list(system: System): Promise<Output> {
  const json = routeManagement.list(await managerOf(system));
  return { json, text: routeTable(json) };
}

interface Limits {
  minimum?: number;
  maximum?: number;
}

function integerIn(
  args: CommandArgs,
  name: string,
  { minimum = 1, maximum }: Limits = {},
): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  const isInLimits = value >= minimum && (maximum === undefined || value <= maximum);
  if (Number.isSafeInteger(value) && isInLimits) return value;
  const limits =
    maximum === undefined ? `of at least ${minimum}` : `between ${minimum} and ${maximum}`;
  throw usageError(`--${name} must be an integer ${limits}`);
}

async function add(system: System, args: CommandArgs): Promise<Output> {
  const providerId = args.required('provider');
  const route = await routeManagement.create(await managerOf(system), {
    environment: args.required('environment') as Mode,
    providerId: providerId === 'built-in' ? null : providerId,
    priority: integerIn(args, 'priority', NEW_ROUTE.priority) ?? 100,
    platformId: args.text('platform'),
    kind: args.text('kind') as RouteKind | undefined,
    rail: args.text('rail'),
    currency: args.text('currency'),
    minAmount: integerIn(args, 'min-amount'),
    maxAmount: integerIn(args, 'max-amount'),
    country: args.text('country'),
    costFixed: integerIn(args, 'cost-fixed', NEW_ROUTE.costFixed),
    costBasisPoints: integerIn(args, 'cost-basis-points', NEW_ROUTE.costBasisPoints),
  });
  return { json: route, text: routeTable([route]) };
}

async function remove(system: System, args: CommandArgs): Promise<Output> {
  const route = await routeManagement.delete(await managerOf(system), args.required('route'));
  return { json: route, text: `Deleted ${route.routeId}.\n` };
}

const EXPLAINED_HEADS = ['VERDICT', ...ROUTE_HEADS, ...CONDITION_HEADS];

/** Cut-off time of today, and whether it has passed. */
const cutOffOf = ({ cutOff, isAfterCutOff }: ExplainedRoute) =>
  cutOff ? `${cutOff.time} ${cutOff.timeZone}${isAfterCutOff ? ', passed' : ''}` : '-';

const explainedTable = (routes: readonly ExplainedRoute[]) =>
  table(
    [...EXPLAINED_HEADS, 'COST', 'CUT-OFF', 'STARTS', 'EXPECTED'],
    routes.map((route) => [
      ...[route.verdict, ...cellsOf(route), `${route.cost ?? '-'}`, cutOffOf(route)],
      ...[route.startsOn ?? '-', route.expectedOn ?? '-'],
    ]),
  );

const executorName = (providerId: string | null) => providerId ?? 'the built-in rail';

/** Reasons for the selection of the providers of a payment's transfers. */
async function explainPayment(system: System, transactionId: string): Promise<Output> {
  const json = await routeManagement.explainTransaction(await managerOf(system), transactionId);
  if (json.data.length === 0) {
    throw new Fault('NOT_FOUND', 'No provider was chosen for this transaction.');
  }
  const texts = json.data.map((attempt) => {
    const result = attempt.outcome === null ? '' : `, ${attempt.outcome}`;
    const provider = executorName(attempt.providerId);
    const heading = `${attempt.transferId} at ${attempt.chosenAt}: ${provider}${result}.`;
    return `${heading}\n\n${explainedTable(attempt.routes)}`;
  });
  return { json, text: texts.join('\n') };
}

/** The value of a flag that is required without `--transaction`. */
function requiredIn(args: CommandArgs, name: string): string {
  const value = args.text(name);
  if (value === undefined) throw usageError(`--${name} is required without --transaction`);
  return value;
}

async function explain(system: System, args: CommandArgs): Promise<Output> {
  const transactionId = args.text('transaction');
  if (transactionId !== undefined) return explainPayment(system, transactionId);
  requiredIn(args, 'amount');
  const choice = await routeManagement.explain(await managerOf(system), {
    environment: requiredIn(args, 'environment') as Mode,
    platformId: requiredIn(args, 'platform'),
    kind: requiredIn(args, 'kind') as Kind,
    rail: args.text('rail') ?? null,
    currency: requiredIn(args, 'currency'),
    country: args.text('country'),
    amount: BigInt(integerIn(args, 'amount') ?? 1),
  });
  const text = explainedTable(choice.routes);
  return { json: choice, text: `Executed by ${executorName(choice.providerId)}.\n\n${text}` };
}

async function listMessages(system: System, args: CommandArgs): Promise<Output> {
  const { data } = await pageOfMessages(system.runtime, {
    providerId: args.text('provider'),
    result: args.text('result') as (typeof STORED_RESULTS)[number] | undefined,
    limit: limitIn(args),
  });
  const heads = ['RECEIVED', 'PROVIDER', 'MESSAGE', 'TYPE', 'RESULT', 'TRANSACTION', 'PROBLEM'];
  const text = table(
    heads,
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
    help: 'Environment that the provider serves',
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
        help: '1 to 10000. The matching route with the lowest number is selected (default: 100)',
      },
      platform: { value: 'PLATFORM', help: 'Only transfers of this platform (default: all)' },
      kind: {
        value: 'KIND',
        choices: PROVIDER_CHOICES.routeKinds,
        help: 'Only this kind of transfer, cards, or a service (default: all transfers and cards)',
      },
      rail: { ...RAIL, help: 'Only transfers over this rail (default: all)' },
      currency: { value: 'CURRENCY', help: 'Only transfers in this currency (default: all)' },
      'min-amount': {
        value: 'AMOUNT',
        help: 'Minimum amount, in minor units. Requires --currency',
      },
      'max-amount': {
        value: 'AMOUNT',
        help:
          'Maximum amount, in minor units. Requires --currency. For cards, the maximum that the ' +
          'provider may approve if the server does not respond (default: 0)',
      },
      country: {
        value: 'COUNTRY',
        help: 'Only accounts in this country, such as DE (default: all)',
      },
      'cost-fixed': {
        value: 'AMOUNT',
        help: 'Cost of a transfer, 0 to 1000000000 minor units. Requires --currency (default: 0)',
      },
      'cost-basis-points': {
        value: 'NUMBER',
        help: 'Cost in basis points of the amount, 0 to 10000 (default: 0)',
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
    summary: 'Explain which provider executes a transfer or payment, and why',
    flags: {
      transaction: {
        value: 'TRANSACTION',
        help: 'Explain the stored choice of this payment. Replaces all other flags',
      },
      environment: {
        value: 'ENVIRONMENT',
        choices: MODES,
        help: 'Environment of the transfer. Required without --transaction',
      },
      platform: {
        value: 'PLATFORM',
        help: 'Platform of the transfer. Required without --transaction',
      },
      kind: {
        value: 'KIND',
        choices: kinds,
        help: 'Kind of transfer, or card. Required without --transaction',
      },
      currency: {
        value: 'CURRENCY',
        help: 'Currency of the transfer. Required without --transaction',
      },
      rail: { ...RAIL, help: 'Rail of the transfer' },
      country: { value: 'COUNTRY', help: 'Country of the account, such as DE' },
      amount: { value: 'AMOUNT', help: 'Amount, in minor units. Required without --transaction' },
    },
    run: explain,
  },
  {
    noun: 'providers',
    verb: 'messages',
    summary: 'List the messages that providers sent, newest first',
    flags: {
      provider: { value: 'PROVIDER', help: 'Filter by provider (default: all)' },
      result: { value: 'RESULT', choices: STORED_RESULTS, help: 'Filter by result (default: all)' },
      ...LIMIT,
    },
    run: listMessages,
  },
];
