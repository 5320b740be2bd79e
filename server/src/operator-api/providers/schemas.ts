// Schemas of providers and routes.
import { Type } from '@sinclair/typebox';
import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import { PROVIDER_CHOICES } from '../../features/providers/index.ts';
import { MODES } from '../../kernel/mode.ts';
import { named, nullable, oneOf, PositiveAmount, ruled, text, time } from '../../kernel/schema.ts';

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

export const Environment = oneOf(MODES, { description: 'Environment of the provider.' });

export const ProviderId = ruled(
  text('Name of the provider. It is part of the URL to which the provider sends messages.', {
    pattern: PROVIDER_CHOICES.name,
  }),
  PROVIDER_CHOICES.nameRule,
);

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

export const PublicKeyPem = text('Ed25519 public key of the provider in PEM format.', {
  maxLength: 1_000,
});

export const TRANSFER_FIELDS = {
  kind: oneOf(PROVIDER_CHOICES.kinds, { description: 'Kind of transfer, or `card`.' }),
  rail: oneOf(PAYMENT_RAILS, { description: 'Rail of the transfer.' }),
  currency: text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 }),
};

const LIMITS = {
  minAmount: optional({ ...PositiveAmount, description: 'Minimum amount, in minor units.' }),
  maxAmount: optional({
    ...PositiveAmount,
    description:
      'Maximum amount, in minor units. For cards, the maximum that the provider may approve ' +
      'alone if Railhead does not respond (default: none).',
  }),
};

/** The fields of a new route. */
export const NEW_ROUTE = {
  environment: Environment,
  providerId: nullable(text('Name of the selected provider; null for the built-in rail.')),
  priority: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Order of evaluation: the matching route with the lowest number is selected.',
  }),
  platformId: optional(text('Only transfers of this platform.')),
  kind: optional(
    oneOf(PROVIDER_CHOICES.routeKinds, {
      description: 'Only this kind of transfer, or cards; or the service that the provider serves.',
    }),
  ),
  rail: optional({ ...TRANSFER_FIELDS.rail, description: 'Only transfers over this rail.' }),
  currency: optional({
    ...TRANSFER_FIELDS.currency,
    description: 'Only transfers in this currency.',
  }),
  ...LIMITS,
};

const ROUTE = {
  routeId: text('ID of the route.'),
  ...NEW_ROUTE,
  createdAt: time('Time of creation.'),
};

export const Route = named(
  'Route',
  Type.Object(ROUTE, { description: 'A rule that selects the provider of a transfer or card.' }),
);

export const RouteChoice = named(
  'RouteChoice',
  Type.Object(
    {
      providerId: nullable(
        text('Name of the provider that would execute the transfer; null for the built-in rail.'),
      ),
      routeId: nullable(text('ID of the selected route; null if no route is selected.')),
      routes: Type.Array(
        Type.Object({
          ...ROUTE,
          verdict: oneOf(PROVIDER_CHOICES.verdicts, {
            description:
              'SELECTED: the route is selected. OTHER_TRANSFERS: the route does not match the transfer. ' +
              'PROVIDER_PAUSED: the provider is paused. NOT_OFFERED: the provider does not support the ' +
              'transfer. UNAVAILABLE: calls to the provider fail. LOWER_PRIORITY: a route with a lower ' +
              'number is selected.',
          }),
        }),
        { description: 'All routes, in order of evaluation.' },
      ),
    },
    { description: 'The provider that would execute a transfer, and why.' },
  ),
);
