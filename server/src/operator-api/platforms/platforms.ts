// Platforms and their settings that operators may change.
import { Type } from '@sinclair/typebox';
import {
  BRAND_COLOR,
  changePlatformSettings,
  checkSettings,
  isRegulatedByDefault,
  MAX_HOURLY_PAYMENTS,
  MAX_WALLET_PROCESSING,
  pageOfPlatforms,
  platformSettings,
} from '../../features/tenancy/administration/index.ts';
import { keepRequestBodies } from '../../features/tenancy/requests/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { MODES } from '../../kernel/mode.ts';
import {
  Amount,
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { publicKeyPem } from '../../runtime/security/keys.ts';
import { operatorHandle } from '../handle.ts';
import { OptionalReason } from '../schemas.ts';

const TAG = 'Platforms';
const optional = Type.Optional;
export const params = Type.Object({ platformId: text('ID of the platform.') });

export const Environment = named(
  'Environment',
  oneOf(MODES, {
    description: '`sandbox` simulates every provider. `production` uses real providers.',
  }),
);

const PasskeySite = named(
  'PasskeySite',
  Type.Object(
    {
      rpId: text('Relying party ID: the domain that the passkeys belong to.', { maxLength: 253 }),
      origins: Type.Array(Type.String({ maxLength: 300 }), {
        minItems: 1,
        maxItems: 20,
        description: 'Origins of the pages and apps that use the passkeys. The complete list.',
      }),
    },
    { description: 'Relying party of the passkeys of a platform. Null in a reply if none is set.' },
  ),
);

const name = text('Display name.', { minLength: 1, maxLength: 255 });
const regulated = Type.Boolean({
  description: 'Whether the platform verifies its customers itself.',
});
const documentsOptional = Type.Boolean({
  description: 'Whether verifications require no documents.',
});
const sca = Type.Boolean({
  description: 'Whether strong customer authentication applies where regions require it.',
});
const scaTwoSteps = Type.Boolean({
  description: 'Whether payouts with a currency conversion require two authentication steps.',
});
const terms = Type.Boolean({
  description:
    'Whether customers must accept terms before payments. Has no effect on a regulated platform.',
});
const invitations = Type.Boolean({ description: 'Whether customers may invite other users.' });
const standardWebhooks = Type.Boolean({
  description: 'Whether webhooks also contain the headers of Standard Webhooks.',
});
const CURRENCIES = 'Codes of the currencies of the customers. The complete list.';
const currencies = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: 100,
  description: CURRENCIES,
});
const hourlyPayments = nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_HOURLY_PAYMENTS,
    description: 'Maximum payments that one customer can start per hour, or null for no limit.',
  }),
);
const walletProcessing = Type.Integer({
  minimum: 0,
  maximum: MAX_WALLET_PROCESSING,
  description:
    'Number of times that wallet requests return PROCESSING before the result. Sandbox only.',
});
const brandColor = nullable(
  text('Color of hosted pages, six hexadecimal digits like `#3b49df`, or null for the default.', {
    pattern: BRAND_COLOR,
  }),
);

const Fee = named(
  'PlatformFee',
  Type.Object(
    {
      currency: text('Code of the currency that is sent.'),
      basisPoints: Type.Integer({
        minimum: 0,
        description: 'Variable part, in basis points of the amount after fixed fees. 100 is 1 %.',
      }),
      fixedFee: withDescription(Amount, 'Fixed part, in minor units of `currency`.'),
    },
    { description: 'A fee of a platform on conversions.' },
  ),
);

const Platform = named(
  'Platform',
  Type.Object(
    {
      platformId: text('ID of the platform.'),
      name,
      environment: Environment,
      regulated,
      documentsOptional,
      sca,
      scaTwoSteps,
      passkeySite: nullable(PasskeySite),
      terms,
      invitations,
      // The list can be empty, because the platform can remove all currencies.
      currencies: Type.Array(Type.String(), { description: CURRENCIES }),
      fees: Type.Array(Fee, {
        description:
          'Fees that the platform charges for conversions from a currency. The platform sets them.',
      }),
      hourlyPayments,
      walletProcessing,
      umaDomain: text('Domain of the UMA addresses of the platform.'),
      webhookEndpoint: nullable(
        text('Webhook endpoint of the configuration, or null if there is none.'),
      ),
      standardWebhooks,
      brandColor,
      requestBodiesUntil: nullable(
        text(
          'Time until which masked bodies of new requests are stored, or null if they are never or ' +
            'always stored.',
        ),
      ),
      createdAt: time('Time at which the platform was created.'),
      updatedAt: time('Time of the last change.'),
    },
    { description: 'A platform with its settings.' },
  ),
);

const createPlatform = operation({
  operationId: 'createPlatform',
  method: 'POST',
  path: '/platforms',
  tag: TAG,
  summary: 'Create a platform',
  description:
    'Creates a platform with its accounts and a token with all permissions. Only this reply ' +
    'contains the secret of the token. By default, `environment` is sandbox, and `sca`, `invitations` ' +
    'and `standardWebhooks` are true. `regulated` is true by default in the sandbox only. Other ' +
    'Boolean settings are false by default.',
  auth: 'operator',
  operatorPermission: 'platforms.manage',
  wholeInstallation: true,
  commands: ['platform create'],
  body: Type.Object({
    name,
    environment: optional(Environment),
    regulated: optional(regulated),
    documentsOptional: optional(documentsOptional),
    sca: optional(sca),
    scaTwoSteps: optional(scaTwoSteps),
    passkeySite: optional(PasskeySite),
    terms: optional(terms),
    invitations: optional(invitations),
    standardWebhooks: optional(standardWebhooks),
    currencies,
    ...OptionalReason,
  }),
  replies: {
    201: Type.Object({
      platformId: text('ID of the platform.'),
      tokenId: text('ID of the token.'),
      clientId: text('Client ID: the user name of HTTP Basic authentication.'),
      clientSecret: optional(
        text('Client secret: the password of HTTP Basic authentication. Absent in a replay.'),
      ),
      webhookPublicKey: text('Public key that verifies the webhooks of the platform, as PEM.'),
    }),
  },
  errors: [],
  omitOnReplay: ['clientSecret'],
});

const listPlatforms = operation({
  operationId: 'listPlatforms',
  method: 'GET',
  path: '/platforms',
  tag: TAG,
  summary: 'List platforms',
  description: 'Returns the platforms that the operator may access, oldest first.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  commands: ['platform list'],
  query: Type.Object(PageQuery),
  replies: {
    200: named(
      'PlatformPage',
      page(Platform, {
        description: 'A page of platforms that the operator may access, oldest first.',
      }),
    ),
  },
  errors: [],
});

const getPlatform = operation({
  operationId: 'getPlatform',
  method: 'GET',
  path: '/platforms/{platformId}',
  tag: TAG,
  summary: 'Get a platform',
  description: 'Returns a platform with its settings.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  commands: ['platform show'],
  params,
  replies: { 200: Platform },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const updatePlatform = operation({
  operationId: 'updatePlatform',
  method: 'PATCH',
  path: '/platforms/{platformId}',
  tag: TAG,
  summary: 'Change settings of a platform',
  description: 'Changes the settings in the request. Other settings are unchanged.',
  auth: 'operator',
  operatorPermission: 'platforms.manage',
  commands: ['platform set'],
  params,
  body: Type.Object({
    name: optional(name),
    regulated: optional(regulated),
    documentsOptional: optional(documentsOptional),
    sca: optional(sca),
    scaTwoSteps: optional(scaTwoSteps),
    passkeySite: optional(PasskeySite),
    terms: optional(terms),
    invitations: optional(invitations),
    standardWebhooks: optional(standardWebhooks),
    currencies: optional(currencies),
    hourlyPayments: optional(hourlyPayments),
    walletProcessing: optional(walletProcessing),
    brandColor: optional(brandColor),
    ...OptionalReason,
  }),
  replies: { 200: Platform },
  errors: [],
  notFound: 'PLATFORM_NOT_FOUND',
});

const keepBodies = operation({
  operationId: 'setRequestBodyRetention',
  method: 'PUT',
  path: '/platforms/{platformId}/request-bodies',
  tag: TAG,
  summary: 'Store request bodies of a production platform',
  description:
    'Stores the masked bodies of new requests of a production platform until a time. Null ends ' +
    'the storage immediately. Stored bodies are removed with their requests. Returns CONFLICT for sandbox ' +
    'platforms, whose bodies are always stored.',
  auth: 'operator',
  operatorPermission: 'requests.manage',
  commands: ['platform request-bodies'],
  params,
  body: Type.Object({
    until: nullable(
      time(
        'Time until which bodies are stored, in the future. Null: no bodies are stored from ' +
          'now on.',
      ),
    ),
    ...OptionalReason,
  }),
  replies: {
    200: Type.Object({
      platformId: text('ID of the platform.'),
      environment: Environment,
      requestBodiesUntil: nullable(
        text('Time until which bodies are stored, or null if they are not.'),
      ),
    }),
  },
  errors: ['CONFLICT'],
  notFound: 'PLATFORM_NOT_FOUND',
});

export const platformOperations = [
  operatorHandle(createPlatform, async ({ installation: { runtime }, provisioning }, { body }) => {
    const { environment = 'sandbox', terms: termsRequired, reason: _, ...settings } = body;
    const isRegulated = body.regulated ?? isRegulatedByDefault(environment);
    const defaults = { regulated: isRegulatedByDefault(environment), terms: false };
    checkSettings(body, defaults, environment);
    const createdPlatform = await provisioning.createPlatform(runtime, {
      ...settings,
      environment,
      regulated: isRegulated,
      documentsOptional: body.documentsOptional ?? false,
      termsRequired,
    });
    const { platformId, tokenId, clientId, clientSecret } = createdPlatform;
    // The first start of the server has generated the key.
    const webhookPublicKey = (await publicKeyPem(runtime, environment)) ?? '';
    const reply = { platformId, tokenId, clientId, clientSecret, webhookPublicKey };
    return { status: 201, body: reply };
  }),
  operatorHandle(listPlatforms, async ({ installation, operator }, { query }) => ({
    status: 200,
    body: await pageOfPlatforms(installation.runtime, operator, query),
  })),
  operatorHandle(getPlatform, async ({ installation }, { params: { platformId } }) => ({
    status: 200,
    body: await platformSettings(installation.runtime, platformId),
  })),
  operatorHandle(updatePlatform, async ({ installation, provisioning }, { params, body }) => {
    const { reason: _, ...change } = body;
    const settings = await changePlatformSettings(installation.runtime, {
      platformId: params.platformId,
      change: () => change,
      provision: provisioning.openAccounts,
    });
    return { status: 200, body: settings };
  }),
  operatorHandle(keepBodies, async ({ installation }, { params, body: { until } }) => {
    const retainedUntil = until === null ? null : Date.parse(until);
    const retention = await keepRequestBodies(
      installation.runtime,
      params.platformId,
      retainedUntil,
    );
    return { status: 200, body: retention };
  }),
];
