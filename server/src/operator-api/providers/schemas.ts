// Schemas of providers and routes.
import { Type } from '@sinclair/typebox';
import { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import { PROVIDER_CHOICES, PROVIDER_SCHEMAS } from '../../features/providers/index.ts';
import { DateOnly, named, nullable, oneOf, text, time } from '../../kernel/schema.ts';

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
      description: 'Sum of the transfers that were sent after the report.',
    }),
    available: Type.Integer({ description: 'What is left for transfers, in minor units.' }),
    isLow: Type.Boolean({ description: 'Whether it is below the threshold for alerts.' }),
    source: oneOf(['OPERATOR', 'PROVIDER'], { description: 'Who reported the amount.' }),
    asOf: time('Time of the amount.'),
  },
  { description: 'A prefunded balance.' },
);

export const ProviderItem = named(
  'ProviderItem',
  Type.Object(
    {
      kind: oneOf(['GATEWAY', 'BUILT_IN'], {
        description: 'GATEWAY: speaks the protocol for providers. BUILT_IN: part of the server.',
      }),
      providerId: text('Name of the provider.'),
      environment: Environment,
      status: oneOf(PROVIDER_CHOICES.statuses, { description: 'PAUSED: gets no new transfers.' }),
      pauseReason: nullable(text('Why it is paused; null if no reason is known.')),
      available: Type.Boolean({ description: 'False while calls fail.' }),
      serves: Type.Array(Type.String(), {
        description: 'Kinds of transfers, or capabilities of the built-in connector.',
      }),
      description: text('URL of the calls, or what the built-in connector does.'),
      problem: nullable(text('Why the last check failed; null if it succeeded.')),
      operations: Type.Array(Type.String(), {
        description: 'Operations with which operators record what the provider executed.',
      }),
    },
    { description: 'A provider in the list of all of them.' },
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
        description: 'Whether plain HTTP and addresses that are not public are allowed.',
      }),
      status: oneOf(PROVIDER_CHOICES.statuses, {
        description:
          'PAUSED: the provider receives no new transfers. Transfers already sent to it continue.',
      }),
      pausedBy: nullable(
        oneOf(['OPERATOR', 'SYSTEM'], {
          description: 'SYSTEM: paused automatically, by its terms. Null while it is active.',
        }),
      ),
      pauseReason: nullable(text('Why it is paused; null if it is active or no reason was given.')),
      statusSince: time('Time of the last pause or resumption, or of the creation.'),
      terms: ProviderTerms,
      balances: Type.Array(Balance, { description: 'Known prefunded balances.' }),
      available: Type.Boolean({
        description:
          'False while the circuit breaker is open: calls fail, so this process sends none for some time.',
      }),
      capabilities: nullable(Capabilities),
      checkedAt: nullable(time('Time of the last check; null if there was none.')),
      problem: nullable(text('Why the last check failed; null if it succeeded.')),
      ownKeys: Type.Array(Key('A signing key for calls to the provider.'), {
        description: 'Active signing keys of this installation, which the provider must accept.',
      }),
      providerKeys: Type.Array(Key('A public key that verifies messages of the provider.'), {
        description: 'Active public keys of the provider.',
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
          'OTHER_TRANSFERS: the route is for others. PROVIDER_PAUSED. NOT_OFFERED: the provider ' +
          'does not offer such a transfer. OVER_LIMIT, OVER_DAILY_LIMIT: a limit of the provider. ' +
          'OVER_BALANCE: the prefunded balance is too low or unknown. UNAVAILABLE: calls to the ' +
          'provider fail. HIGHER_COST: a route with the same priority and a lower cost is selected. ' +
          'LOWER_PRIORITY: an earlier route is selected.',
      }),
      cost: optional(
        Type.Integer({ description: 'Cost in minor units. Absent for OTHER_TRANSFERS.' }),
      ),
      cutOff: optional(
        Type.Object(
          { time: text('`HH:MM`.'), timeZone: text('Time zone of `time`.') },
          { description: 'Cut-off time of the rail at the provider.' },
        ),
      ),
      startsOn: optional({
        ...DateOnly,
        description: 'Business day on which the transfer starts.',
      }),
      expectedOn: optional({ ...DateOnly, description: 'Day on which it is expected to arrive.' }),
      isAfterCutOff: optional(
        Type.Boolean({ description: 'Whether the cut-off time of the day has passed.' }),
      ),
      calendars: optional(
        Type.Array(Type.String(), { description: 'Business-day calendars of the dates.' }),
      ),
      incompleteCalendars: optional(
        Type.Array(Type.String(), {
          description: 'Calendars without data for these dates: only weekends are considered.',
        }),
      ),
      sentToday: optional(
        Type.Integer({ description: 'Sum of the day in this currency, if a daily limit exists.' }),
      ),
      availableBalance: optional(
        Type.Integer({ description: 'Available prefunded balance, if the provider is prefunded.' }),
      ),
    },
    { description: 'A route, and why it is selected or not.' },
  ),
);

export const TransactionChoices = named(
  'TransactionChoices',
  Type.Object({
    data: Type.Array(
      Type.Object({
        transferId: text('ID of the transfer, as the provider knows it.'),
        platformId: text('Platform of the transaction.'),
        kind: nullable(TRANSFER_FIELDS.kind),
        amount: nullable(Type.Integer({ description: 'Amount in minor units.' })),
        currency: nullable(text('Currency code.')),
        providerId: nullable(text('The provider; null for the built-in rail.')),
        routeId: nullable(text('The selected route; null if none matched.')),
        outcome: nullable(
          oneOf(['SETTLED', 'FAILED', 'RETURNED', 'CANCELED'], {
            description: 'The last result at the provider; null until there is one.',
          }),
        ),
        chosenAt: time('Time of the choice.'),
        routes: Type.Array(ExplainedRoute, {
          description: 'The first 20 routes for such transfers at that time.',
        }),
      }),
      { description: 'The payout, the debit and the refund of the transaction, as far as sent.' },
    ),
  }),
);

const rate = (description: string) =>
  nullable(Type.Number({ minimum: 0, maximum: 1, description }));
const count = (description: string) => Type.Integer({ minimum: 0, description });

const HealthWindow = Type.Object(
  {
    minutes: count('Length of the window in minutes: 5, 60 or 1440.'),
    calls: count('Calls that were sent.'),
    errors: count('Calls without a valid response.'),
    errorRate: rate('Rate of errors; null without calls.'),
    averageMs: nullable(count('Average duration; null without calls.')),
    maxMs: nullable(count('Longest duration; null without calls.')),
    within100Ms: count('Calls of at most 100 ms.'),
    within500Ms: count('Calls of at most 500 ms.'),
    within2000Ms: count('Calls of at most 2 s.'),
    settled: count('Transfers whose settlement was reported in this window.'),
    failed: count('Transfers whose failure was reported.'),
    returned: count('Transfers whose return was reported.'),
    successRate: rate('Settled ones among these results; null without results.'),
    returnRate: rate('Returned ones among settled and returned ones; null without these.'),
  },
  { description: 'Calls and results of a time, of all processes.' },
);

export const ProviderHealth = named(
  'ProviderHealth',
  Type.Object({
    data: Type.Array(
      Type.Object({
        providerId: text('Name of the provider.'),
        environment: Environment,
        status: oneOf(PROVIDER_CHOICES.statuses, { description: 'PAUSED: gets no new transfers.' }),
        pausedBy: nullable(
          oneOf(['OPERATOR', 'SYSTEM'], { description: 'SYSTEM: paused automatically.' }),
        ),
        pauseReason: nullable(text('Why it is paused; null if no reason is known.')),
        available: Type.Boolean({ description: 'False while calls of this process fail.' }),
        windows: Type.Array(HealthWindow, { description: 'The shortest window first.' }),
      }),
      { description: 'Providers by name.' },
    ),
  }),
);

export const FileResult = named(
  'ProviderFileResult',
  Type.Object({
    applied: Type.Boolean({ description: 'Whether something was changed.' }),
    changes: Type.Array(
      Type.Object({
        action: oneOf(['ADD', 'CHANGE', 'REMOVE'], { description: 'What changes.' }),
        subject: oneOf(['PROVIDER', 'KEY', 'ROUTE'], { description: 'Of what kind.' }),
        id: text('Name of the provider, ID of the key, or the fields of the route.'),
        field: optional(text('The field that changes.')),
        before: optional(text('Its value before.')),
        after: optional(text('Its value after.')),
      }),
      { description: 'Differences between the file and what was stored.' },
    ),
  }),
);

export const RouteChoice = named(
  'RouteChoice',
  Type.Object(
    {
      providerId: nullable(
        text('Name of the provider that would execute the transfer; null for the built-in rail.'),
      ),
      routeId: nullable(text('The selected route; null if none matches.')),
      routes: Type.Array(ExplainedRoute, {
        description: 'All routes, in the order in which they are tried.',
      }),
    },
    { description: 'The provider that would execute a transfer, and why.' },
  ),
);
