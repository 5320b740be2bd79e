// Schemas of terms, routes and the file with providers. The operator API and the published JSON schema of
// the file derive from them.
import { type Static, Type } from '@sinclair/typebox';
import { PAYMENT_RAILS } from '../../../catalog/rails/rails.ts';
import { MODES } from '../../../kernel/mode.ts';
import {
  CountryCode,
  nullable,
  oneOf,
  PositiveAmount,
  text,
  withErrorText,
} from '../../../kernel/schema.ts';
import { PROVIDER_CHOICES } from '../choices.ts';

const optional = Type.Optional;
const amount = (description: string) => ({ ...PositiveAmount, description });

export const Environment = oneOf(MODES, { description: 'Environment that the provider serves.' });

export const ProviderId = withErrorText(
  text(
    'Name of the provider: 2 to 40 lower-case letters, digits and hyphens, starting with a letter. The ' +
      'URL to which the provider sends messages ends with this name.',
    { pattern: PROVIDER_CHOICES.name },
  ),
  PROVIDER_CHOICES.nameRule,
);

const CurrencyText = text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 });

export const TRANSFER_FIELDS = {
  kind: oneOf(PROVIDER_CHOICES.kinds, { description: 'Kind of transfer, or card.' }),
  rail: oneOf(PAYMENT_RAILS, { description: 'Rail of the transfer.' }),
  currency: CurrencyText,
  country: { ...CountryCode, description: 'Country of the external account, ISO 3166-1 alpha-2.' },
};

export const NEW_ROUTE = {
  environment: Environment,
  providerId: nullable(text('Name of the selected provider, or null for the built-in rail.')),
  priority: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description:
      'The matching route with the lowest number is selected. Among equal numbers, the route with the ' +
      'lowest cost is selected.',
  }),
  platformId: optional(text('Only transfers of this platform. Absent: all platforms.')),
  kind: optional(
    oneOf(PROVIDER_CHOICES.routeKinds, {
      description:
        'Only transfers of this kind, only cards, or this service of the provider. Absent: all ' +
        'transfers and cards.',
    }),
  ),
  rail: optional({
    ...TRANSFER_FIELDS.rail,
    description: 'Only transfers over this rail. Absent: all rails.',
  }),
  currency: optional({
    ...CurrencyText,
    description: 'Only transfers in this currency. Absent: all currencies.',
  }),
  country: optional({
    ...CountryCode,
    description:
      'Only transfers whose external account is in this country, ISO 3166-1 alpha-2. Absent: ' +
      'all countries.',
  }),
  minAmount: optional(
    amount('Smallest amount, in minor units. Requires `currency`. Absent: no minimum.'),
  ),
  maxAmount: optional(
    amount(
      'Largest amount, in minor units. Requires `currency`. Absent: no maximum. For cards: the ' +
        'largest authorization that the provider may approve if Railhead does not respond. If ' +
        'absent, the provider must decline.',
    ),
  ),
  costFixed: optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'Cost of a transfer in minor units of `currency`. Requires `currency`. Absent: 0.',
    }),
  ),
  costBasisPoints: optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'Cost of a transfer in basis points of its amount, rounded up. Absent: 0.',
    }),
  ),
};

const Limit = Type.Object(
  {
    currency: CurrencyText,
    perTransfer: optional(
      amount('Largest amount of one transfer, in minor units. Absent: no limit.'),
    ),
    perDay: optional(
      amount('Largest sum of the transfers of a day (UTC), in minor units. Absent: no limit.'),
    ),
  },
  { additionalProperties: false, description: 'Limits of a provider in one currency.' },
);

const CutOffOfRail = Type.Object(
  {
    rail: TRANSFER_FIELDS.rail,
    time: text('Latest time of a business day for processing on that day, `HH:MM`.', {
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
    }),
    timeZone: text('Time zone of `time`, such as `Europe/Berlin`.', {
      minLength: 1,
      maxLength: 60,
    }),
  },
  { additionalProperties: false, description: 'Cut-off time of a rail at this provider.' },
);

const Prefunding = Type.Object(
  {
    currency: CurrencyText,
    alertBelow: optional(
      amount('Threshold of the available balance for alerts, in minor units. Absent: no alerts.'),
    ),
  },
  { additionalProperties: false, description: 'A currency in which the provider is prefunded.' },
);

const percent = (description: string) => Type.Integer({ minimum: 1, maximum: 100, description });

export const HEALTH_WINDOWS = [5, 60, 1_440] as const;

const AutoPause = Type.Object(
  {
    windowMinutes: Type.Unsafe<(typeof HEALTH_WINDOWS)[number]>({
      type: 'integer',
      enum: [...HEALTH_WINDOWS],
      description: 'Period over which the rates are computed, in minutes.',
    }),
    minimum: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Minimum number of calls, or of settled transfers, for a pause.',
    }),
    errorPercent: optional(
      percent(
        'The provider is paused if a higher percentage of the calls fails. Absent: not checked.',
      ),
    ),
    returnPercent: optional(
      percent(
        'The provider is paused if a higher percentage of the settled transfers is returned. ' +
          'Absent: not checked.',
      ),
    ),
    resumeAfterProbe: optional(
      Type.Boolean({
        default: false,
        description:
          'Whether a provider that was paused for failed calls is resumed automatically. Its ' +
          'capabilities are requested once a minute until the provider responds. If false, an ' +
          'operator must resume it.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'Conditions of an automatic pause. At least one percentage is required. Absent: no automatic pause.',
  },
);

export const ProviderTerms = Type.Object(
  {
    limits: optional(
      Type.Array(Limit, {
        maxItems: 200,
        description: 'Limits, at most one per currency. Absent: none.',
      }),
    ),
    cutOffs: optional(
      Type.Array(CutOffOfRail, {
        maxItems: 100,
        description: 'Cut-off times, at most one per rail. Absent: none.',
      }),
    ),
    prefunding: optional(
      Type.Array(Prefunding, {
        maxItems: 200,
        description:
          'Prefunded currencies, at most one entry per currency. Payouts and refunds in them require ' +
          'an available balance. Absent: none.',
      }),
    ),
    autoPause: optional(AutoPause),
  },
  {
    additionalProperties: false,
    description: 'Limits, cut-off times, prefunding and automatic pause of a provider.',
  },
);
export type ProviderTerms = Static<typeof ProviderTerms>;

export const PublicKeyPem = text('Ed25519 public key of the provider as PEM.', {
  maxLength: 1_000,
});

export const ProviderUrl = Type.String({
  maxLength: 2_000,
  description: 'Base URL of the calls to the provider, without a query.',
});

export const PrivateAddressAllowed = Type.Boolean({
  default: false,
  description: 'Whether plain HTTP and private addresses are allowed.',
});

const FileProvider = Type.Object(
  {
    providerId: ProviderId,
    environment: Environment,
    url: ProviderUrl,
    privateAddressAllowed: optional(PrivateAddressAllowed),
    publicKeys: Type.Array(PublicKeyPem, {
      minItems: 1,
      maxItems: 4,
      description:
        'Public keys that verify the messages of the provider. Stored keys that are not listed are ' +
        'accepted for another 24 hours.',
    }),
    terms: optional({
      ...ProviderTerms,
      description: 'Terms of the provider. Absent: the stored terms are removed.',
    }),
  },
  { additionalProperties: false, description: 'Address, public keys and terms of a provider.' },
);

/** The file with providers and routes. It contains no secrets. */
export const ProviderFile = Type.Object(
  {
    $schema: optional(text('URL of this schema, for editors. It has no effect.')),
    providers: optional(
      Type.Array(FileProvider, {
        maxItems: 200,
        description: 'Providers to add or change, identified by name. Others remain unchanged.',
      }),
    ),
    routes: optional(
      Type.Array(
        Type.Object(NEW_ROUTE, {
          additionalProperties: false,
          description: 'A rule that selects a provider.',
        }),
        {
          maxItems: 500,
          description:
            'All routes: stored routes that are not listed are removed. Absent: the routes are unchanged.',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'Providers and routes of the installation.' },
);
export type ProviderFile = Static<typeof ProviderFile>;
export type FileProvider = Static<typeof FileProvider>;
export type FileRoute = NonNullable<ProviderFile['routes']>[number];
