// Schemas of providers and routes.
import { Type } from '@sinclair/typebox';
import { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import { PROVIDER_CHOICES, PROVIDER_SCHEMAS } from '../../features/providers/index.ts';
import {
  DateOnly,
  named,
  nullable,
  oneOf,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';

const optional = Type.Optional;

/** Common properties of operations that read or change providers. */
export const READS_PROVIDERS = {
  tag: 'Providers',
  auth: 'operator',
  operatorPermission: 'providers.read',
  wholeInstallation: true,
} as const;
export const CHANGES_PROVIDERS = {
  ...READS_PROVIDERS,
  operatorPermission: 'providers.manage',
} as const;

const { Environment, NEW_ROUTE, ProviderTerms, TRANSFER_FIELDS } = PROVIDER_SCHEMAS;

export const providerParams = Type.Object({ providerId: text('Name of the provider.') });

const Key = (description: string) =>
  Type.Object(
    {
      keyId: text(
        'ID of the key: its JWK thumbprint (RFC 7638). Signatures contain it as `keyid`.',
      ),
      publicKeyPem: text('Ed25519 public key in PEM format.'),
      activeFrom: time('Time at which the key becomes active.'),
      retiredAt: optional(
        time('Time at which the key is retired. Absent if no retirement is scheduled.'),
      ),
    },
    { description },
  );

const Balance = Type.Object(
  {
    currency: text('Currency code.'),
    amount: Type.Integer({ description: 'Reported amount, in minor units.' }),
    sentSince: Type.Integer({
      description: 'Sum of the payouts and refunds that `amount` does not include, in minor units.',
    }),
    available: Type.Integer({
      description: 'Available for further transfers, in minor units: `amount` less `sentSince`.',
    }),
    isLow: Type.Boolean({
      description: 'Whether `available` is below the threshold `alertBelow` of the terms.',
    }),
    source: oneOf(['OPERATOR', 'PROVIDER'], {
      description: 'Whether an operator recorded the amount or the provider reported it.',
    }),
    asOf: time('Time of the reported amount.'),
  },
  { description: 'A prefunded balance at the provider.' },
);

export const ProviderItem = named(
  'ProviderItem',
  Type.Object(
    {
      kind: oneOf(['GATEWAY', 'BUILT_IN'], {
        description:
          'GATEWAY: a provider that uses the provider protocol. BUILT_IN: a connector of the server.',
      }),
      providerId: text('Name of the provider.'),
      environment: Environment,
      status: oneOf(PROVIDER_CHOICES.statuses, {
        description: 'PAUSED: the provider receives no new transfers.',
      }),
      pauseReason: nullable(
        text('Reason for the pause, or null while the provider is active, or if none was stated.'),
      ),
      available: Type.Boolean({ description: 'False while calls to the provider fail.' }),
      serves: Type.Array(Type.String(), {
        description:
          'Kinds of transfers and services that the provider offers, or functions of the built-in ' +
          'connector. Empty until a check has read the capabilities.',
      }),
      description: text('Base URL of the provider, or a description of the built-in connector.'),
      problem: nullable(
        text('Reason why the last check failed, or null if it succeeded or there was no check.'),
      ),
      operations: Type.Array(Type.String(), {
        description:
          'Operations with which operators report the results of the manual rail. Empty for ' +
          'other providers.',
      }),
    },
    { description: 'Summary of a provider.' },
  ),
);

export const Provider = named(
  'Provider',
  Type.Object(
    {
      providerId: text('Name of the provider.'),
      environment: Environment,
      url: text('Base URL of the provider.'),
      privateAddressAllowed: Type.Boolean({
        description: 'Whether plain HTTP and private addresses are allowed.',
      }),
      status: oneOf(PROVIDER_CHOICES.statuses, {
        description:
          'PAUSED: the provider receives no new transfers. Transfers already sent to it continue.',
      }),
      pausedBy: nullable(
        oneOf(['OPERATOR', 'SYSTEM'], {
          description:
            'OPERATOR: paused by an operator. SYSTEM: paused automatically, as the terms of the ' +
            'provider require. Null while the provider is active.',
        }),
      ),
      pauseReason: nullable(
        text('Reason for the pause, or null while the provider is active, or if none was stated.'),
      ),
      statusSince: time('Time of the last pause or resumption, or of the creation.'),
      terms: ProviderTerms,
      balances: Type.Array(Balance, {
        description: 'Prefunded balances that were reported or recorded.',
      }),
      available: Type.Boolean({
        description:
          'False while the circuit breaker is open: recent calls failed, and calls are suspended for a ' +
          'short time.',
      }),
      capabilities: nullable(Capabilities),
      checkedAt: nullable(time('Time of the last check, or null if there was none.')),
      problem: nullable(
        text('Reason why the last check failed, or null if it succeeded or there was no check.'),
      ),
      ownKeys: Type.Array(Key('A signing key for calls to the provider.'), {
        description:
          'Signing keys of this installation that are not retired. The provider must accept them.',
      }),
      providerKeys: Type.Array(Key('A public key that verifies messages of the provider.'), {
        description: 'Public keys of the provider that are not retired.',
      }),
      createdAt: time('Time of creation.'),
    },
    { description: 'A provider that implements the provider protocol.' },
  ),
);

const ROUTE = {
  routeId: text('ID of the route.'),
  ...NEW_ROUTE,
  createdAt: time('Time of creation.'),
};

export const Route = named(
  'Route',
  Type.Object(ROUTE, { description: 'A rule that selects the provider of a transfer or card.' }),
);

const ExplainedRoute = named(
  'ExplainedRoute',
  Type.Object(
    {
      ...ROUTE,
      verdict: oneOf(PROVIDER_CHOICES.verdicts, {
        description:
          'SELECTED: the first route that matches and whose provider can execute the transfer. ' +
          'OTHER_TRANSFERS: the conditions of the route do not match. PROVIDER_PAUSED: the provider is ' +
          'paused. NOT_OFFERED: the provider does not offer this transfer. OVER_LIMIT, ' +
          'OVER_DAILY_LIMIT: the amount exceeds a limit of the provider. OVER_BALANCE: the prefunded ' +
          'balance is too low or unknown. UNAVAILABLE: calls to the provider fail. HIGHER_COST: a route ' +
          'with the same priority and no higher cost is selected. LOWER_PRIORITY: a route with a lower ' +
          'number is selected.',
      }),
      cost: optional(
        Type.Integer({
          description: 'Cost of the transfer in minor units. Absent for OTHER_TRANSFERS.',
        }),
      ),
      cutOff: optional(
        Type.Object(
          {
            time: text('Local time, `HH:MM`.'),
            timeZone: text('IANA time zone of `time`, such as `Europe/Berlin`.'),
          },
          { description: 'Cut-off time of the rail at the provider. Absent if there is none.' },
        ),
      ),
      startsOn: optional({
        ...DateOnly,
        description:
          'Business day on which the provider executes the transfer. Absent if not computed.',
      }),
      expectedOn: optional({
        ...DateOnly,
        description:
          'Business day on which the transfer is expected to arrive. Absent if not computed.',
      }),
      isAfterCutOff: optional(
        Type.Boolean({
          description:
            "Whether today's cut-off time has passed. `startsOn` is then a later day. Absent if not " +
            'computed.',
        }),
      ),
      calendars: optional(
        Type.Array(Type.String(), {
          description:
            'Business-day calendars from which the dates are computed. Absent without dates.',
        }),
      ),
      incompleteCalendars: optional(
        Type.Array(Type.String(), {
          description:
            'Calendars without data for these dates. Only their weekends are considered. Absent without ' +
            'dates.',
        }),
      ),
      sentToday: optional(
        Type.Integer({
          description:
            'Sum of the transfers to the provider today (UTC) in minor units. 0 without a daily limit. ' +
            'Absent if not computed.',
        }),
      ),
      availableBalance: optional(
        Type.Integer({
          description:
            'Available prefunded balance in minor units. Absent for a debit, and if the provider is not ' +
            'prefunded.',
        }),
      ),
    },
    { description: 'A route with the reason why it is selected or not.' },
  ),
);

export const TransactionChoices = named(
  'TransactionChoices',
  Type.Object(
    {
      data: Type.Array(
        Type.Object({
          transferId: text('ID of the transfer in the provider protocol.'),
          platformId: text('ID of the platform of the transaction.'),
          kind: nullable(
            withDescription(
              TRANSFER_FIELDS.kind,
              'Kind of transfer, or null for transfers of earlier versions.',
            ),
          ),
          amount: nullable(
            Type.Integer({
              description: 'Amount in minor units, or null for transfers of earlier versions.',
            }),
          ),
          currency: nullable(text('Currency code, or null for transfers of earlier versions.')),
          providerId: nullable(text('Name of the provider, or null for the built-in rail.')),
          routeId: nullable(text('ID of the selected route, or null if none was selected.')),
          outcome: nullable(
            oneOf(['SETTLED', 'FAILED', 'RETURNED', 'CANCELED'], {
              description: 'Latest recorded result, or null while the transfer is in progress.',
            }),
          ),
          chosenAt: time('Time at which the provider was selected.'),
          routes: Type.Array(ExplainedRoute, {
            description: 'The first 20 routes that matched the transfer at that time.',
          }),
        }),
        { description: 'The payout, debit and refund of the transaction, if they were sent.' },
      ),
    },
    {
      description:
        'Providers of the transfers of a transaction, with the reasons for their selection.',
    },
  ),
);

const rate = (description: string) =>
  nullable(Type.Number({ minimum: 0, maximum: 1, description }));
const count = (description: string) => Type.Integer({ minimum: 0, description });

const HealthWindow = Type.Object(
  {
    minutes: count('Length of the window in minutes: 5, 60 or 1440.'),
    calls: count('Calls that were sent.'),
    errors: count('Calls without a valid response.'),
    errorRate: rate('`errors` divided by `calls`, or null without calls.'),
    averageMs: nullable(count('Average duration in milliseconds, or null without calls.')),
    maxMs: nullable(count('Longest duration in milliseconds, or null without calls.')),
    within100Ms: count('Calls of at most 100 ms.'),
    within500Ms: count('Calls of at most 500 ms.'),
    within2000Ms: count('Calls of at most 2 s.'),
    settled: count('Transfers whose latest result is a settlement, reported in this window.'),
    failed: count('Transfers whose failure was reported in this window.'),
    returned: count('Transfers whose return was reported in this window.'),
    successRate: rate(
      '`settled` divided by the sum of `settled`, `failed` and `returned`, or null if the sum is 0.',
    ),
    returnRate: rate(
      '`returned` divided by the sum of `settled` and `returned`, or null if the sum is 0.',
    ),
  },
  { description: 'Calls and results in a window of time, over all server processes.' },
);

export const ProviderHealth = named(
  'ProviderHealth',
  Type.Object(
    {
      data: Type.Array(
        Type.Object({
          providerId: text('Name of the provider.'),
          environment: Environment,
          status: oneOf(PROVIDER_CHOICES.statuses, {
            description: 'PAUSED: the provider receives no new transfers.',
          }),
          pausedBy: nullable(
            oneOf(['OPERATOR', 'SYSTEM'], {
              description:
                'OPERATOR: paused by an operator. SYSTEM: paused automatically. Null while the provider is ' +
                'active.',
            }),
          ),
          pauseReason: nullable(
            text(
              'Reason for the pause, or null while the provider is active, or if none was stated.',
            ),
          ),
          available: Type.Boolean({
            description: 'False while calls of the responding process to the provider fail.',
          }),
          windows: Type.Array(HealthWindow, {
            description: 'Windows of 5, 60 and 1440 minutes, in this order.',
          }),
        }),
        { description: 'The providers, ordered by name.' },
      ),
    },
    {
      description:
        'Calls, durations and results of each provider in the last 5 minutes, hour and day.',
    },
  ),
);

export const FileResult = named(
  'ProviderFileResult',
  Type.Object(
    {
      applied: Type.Boolean({
        description: 'Whether changes were applied. False for a dry run or without changes.',
      }),
      changes: Type.Array(
        Type.Object({
          action: oneOf(['ADD', 'CHANGE', 'REMOVE'], { description: 'Kind of change.' }),
          subject: oneOf(['PROVIDER', 'KEY', 'ROUTE'], {
            description: 'Kind of the changed object.',
          }),
          id: text('Name of the provider, ID of the key, or the fields of the route.'),
          field: optional(text('Name of the changed field. Present only for CHANGE.')),
          before: optional(text('Value of the field before the change. Present only for CHANGE.')),
          after: optional(text('Value of the field after the change. Present only for CHANGE.')),
        }),
        { description: 'Changes between the stored configuration and the file.' },
      ),
    },
    {
      description:
        'Changes that an import of providers and routes makes, and whether they were applied.',
    },
  ),
);

export const RouteChoice = named(
  'RouteChoice',
  Type.Object(
    {
      providerId: nullable(
        text(
          'Name of the provider that would execute the transfer, or null for the built-in rail.',
        ),
      ),
      routeId: nullable(text('ID of the selected route, or null if none is selected.')),
      routes: Type.Array(ExplainedRoute, {
        description: 'All routes in the order of evaluation, each with its verdict.',
      }),
    },
    { description: 'The provider that would execute a transfer, with the verdict of each route.' },
  ),
);
