// Schemas of providers and routes.
import { Type } from '@sinclair/typebox';
import { PAYMENT_RAILS } from '../../catalog/rails/rails.ts';
import { Capabilities } from '../../connectors/ports/providers/protocol.ts';
import { PROVIDER_CHOICES } from '../../features/providers/index.ts';
import { MODES } from '../../kernel/mode.ts';
import { named, nullable, oneOf, PositiveAmount, ruled, text, time } from '../../kernel/schema.ts';

const optional = Type.Optional;

/** What all operations that read providers share, and those that change them. */
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
  text('Name of the provider, a part of the address of its messages.', {
    pattern: PROVIDER_CHOICES.name,
  }),
  PROVIDER_CHOICES.nameRule,
);

export const providerParams = Type.Object({ providerId: text('Name of the provider.') });

const Key = (description: string) =>
  Type.Object(
    {
      keyId: text(
        'ID of the key: its JWK thumbprint (RFC 7638). It is the `keyid` of a signature.',
      ),
      publicKeyPem: text('Ed25519 public key as PEM.'),
      activeFrom: time('Time from which the key is used.'),
      retiredAt: optional(time('Time until which the key is accepted, if one is set.')),
    },
    { description },
  );

export const Provider = named(
  'Provider',
  Type.Object(
    {
      providerId: text('Name of the provider.'),
      environment: Environment,
      url: text('Base URL of the calls to the provider.'),
      privateAddressAllowed: Type.Boolean({
        description: 'Whether plain HTTP and addresses that are not public are allowed.',
      }),
      status: oneOf(PROVIDER_CHOICES.statuses, {
        description: 'PAUSED: gets no new transfers. Those that it has continue.',
      }),
      available: Type.Boolean({
        description: 'False while calls fail: the process of this reply sends none for some time.',
      }),
      capabilities: nullable(Capabilities),
      checkedAt: nullable(time('Time of the last check; null if there was none.')),
      problem: nullable(text('Why the last check failed; null if it succeeded.')),
      ownKeys: Type.Array(Key('A key that signs calls to the provider.'), {
        description: 'Keys of this installation that the provider must accept.',
      }),
      providerKeys: Type.Array(Key('A key that verifies messages of the provider.'), {
        description: 'Keys of the provider.',
      }),
      createdAt: time('Time of the creation.'),
    },
    { description: 'A provider that speaks the protocol for providers.' },
  ),
);

export const PublicKeyPem = text('Ed25519 public key of the provider as PEM.', {
  maxLength: 1_000,
});

export const TRANSFER_FIELDS = {
  kind: oneOf(PROVIDER_CHOICES.kinds, { description: 'Kind of transfer, or card.' }),
  rail: oneOf(PAYMENT_RAILS, { description: 'Rail.' }),
  currency: text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 }),
};

const LIMITS = {
  minAmount: optional({ ...PositiveAmount, description: 'Smallest amount, in minor units.' }),
  maxAmount: optional({
    ...PositiveAmount,
    description:
      'Largest amount, in minor units. For cards: what the provider may approve by itself if ' +
      'Railhead does not answer; absent: nothing.',
  }),
};

/** The fields of a new route. */
export const NEW_ROUTE = {
  environment: Environment,
  providerId: nullable(text('The selected provider; null for the built-in rail.')),
  priority: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: 'Order of the routes: the lowest matching one is selected.',
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
  createdAt: time('Time of the creation.'),
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
        text('The provider that would execute the transfer; null: built-in rail.'),
      ),
      routeId: nullable(text('The selected route; null if none matches.')),
      routes: Type.Array(
        Type.Object({
          ...ROUTE,
          verdict: oneOf(PROVIDER_CHOICES.verdicts, {
            description:
              'OTHER_TRANSFERS: the route is for others. PROVIDER_PAUSED. NOT_OFFERED: the provider ' +
              'does not offer such a transfer. UNAVAILABLE: calls to the provider fail. ' +
              'LOWER_PRIORITY: an earlier route is selected.',
          }),
        }),
        { description: 'All routes, in the order in which they are tried.' },
      ),
    },
    { description: 'Which provider would execute a transfer, and why.' },
  ),
);
