// Operations on providers: creation, capability check, pause, terms, balances, keys and configuration files.
import { Type } from '@sinclair/typebox';
import {
  type ManagerDeps,
  PROVIDER_SCHEMAS,
  providerManagement,
} from '../../features/providers/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { Amount, named, text, time } from '../../kernel/schema.ts';
import {
  DEFAULT_OVERLAP_HOURS,
  HOUR_MS,
  MAX_OVERLAP_HOURS,
} from '../../runtime/security/key-rotation.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { OptionalReason } from '../schemas.ts';
import {
  CHANGES_PROVIDERS,
  FileResult,
  Provider,
  ProviderHealth,
  ProviderItem,
  providerParams,
  READS_PROVIDERS,
} from './schemas.ts';

const { Environment, PrivateAddressAllowed, ProviderFile, ProviderId, ProviderTerms, ProviderUrl } =
  PROVIDER_SCHEMAS;
const { PublicKeyPem } = PROVIDER_SCHEMAS;

const OverlapHours = (description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_HOURS,
      default: DEFAULT_OVERLAP_HOURS,
      description,
    }),
  );

const list = operation({
  ...READS_PROVIDERS,
  operationId: 'listProviders',
  method: 'GET',
  path: '/providers',
  summary: 'List providers',
  description:
    'Returns the providers that use the provider protocol, by name, followed by the built-in connectors ' +
    'of both environments.',
  commands: ['providers list'],
  replies: {
    200: named(
      'Providers',
      Type.Object(
        {
          data: Type.Array(ProviderItem, {
            description: 'Providers, followed by built-in connectors.',
          }),
        },
        {
          description:
            'Providers that use the provider protocol, by name, followed by the built-in connectors.',
        },
      ),
    ),
  },
  errors: [],
});

const get = operation({
  ...READS_PROVIDERS,
  operationId: 'getProvider',
  method: 'GET',
  path: '/providers/{providerId}',
  summary: 'Get a provider',
  description: 'Returns a provider with its capabilities, terms, balances and keys.',
  commands: ['providers show'],
  params: providerParams,
  replies: { 200: Provider },
  errors: ['NOT_FOUND'],
});

const create = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'createProvider',
  method: 'POST',
  path: '/providers',
  summary: 'Add a provider',
  description:
    'Adds a provider and generates a signing key for calls to it. The provider receives transfers once ' +
    '`checkProvider` has stored its capabilities and a route selects it.',
  commands: ['providers add'],
  body: Type.Object({
    providerId: ProviderId,
    environment: Environment,
    url: ProviderUrl,
    publicKeyPem: PublicKeyPem,
    privateAddressAllowed: Type.Optional(PrivateAddressAllowed),
    ...OptionalReason,
  }),
  replies: { 201: Provider },
  errors: ['CONFLICT'],
});

const defineStep = (operationId: string, verb: string, summary: string, description: string) =>
  operation({
    ...CHANGES_PROVIDERS,
    operationId,
    method: 'POST',
    path: `/providers/{providerId}/${verb}`,
    summary,
    description,
    commands: [`providers ${verb}`],
    params: providerParams,
    body: Type.Object(OptionalReason),
    bodyOptional: true,
    replies: { 200: Provider },
    errors: ['NOT_FOUND', 'CONFLICT'],
  });

const check = defineStep(
  'checkProvider',
  'check',
  'Check a provider',
  'Requests the capabilities of the provider and stores them. If the check fails, `problem` of the ' +
    'reply contains the reason and the stored capabilities are unchanged.',
);
const pause = defineStep(
  'pauseProvider',
  'pause',
  'Pause a provider',
  'Stops new transfers to the provider within a second. Transfers already sent to it continue.',
);
const resume = defineStep(
  'resumeProvider',
  'resume',
  'Resume a provider',
  'Sends new transfers to a paused provider again.',
);

const rotate = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'rotateProviderKey',
  method: 'POST',
  path: '/providers/{providerId}/rotate',
  summary: 'Rotate the signing key for a provider',
  description:
    'Generates a new signing key for calls to the provider. The key becomes active after the overlap. ' +
    'Register its public key with the provider before then. Otherwise the provider rejects the calls. ' +
    'Earlier keys are retired after twice the overlap. Returns CONFLICT if 4 keys are not retired.',
  commands: ['providers rotate'],
  params: providerParams,
  body: Type.Object({
    overlapHours: OverlapHours(
      'Hours until the new key becomes active. With 0, it becomes active after 5 seconds. The default is 24.',
    ),
    ...OptionalReason,
  }),
  bodyOptional: true,
  replies: { 200: Provider },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

const addKey = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'addProviderKey',
  method: 'POST',
  path: '/providers/{providerId}/keys',
  summary: 'Add a public key of a provider',
  description:
    'Adds a public key of a provider. Messages signed with the new key are accepted immediately. ' +
    'Messages signed with earlier keys are accepted until the overlap ends. Returns CONFLICT if 4 ' +
    'keys are not retired.',
  commands: ['providers add-key'],
  params: providerParams,
  body: Type.Object({
    publicKeyPem: PublicKeyPem,
    overlapHours: OverlapHours('Hours for which earlier keys are accepted. The default is 24.'),
    ...OptionalReason,
  }),
  replies: { 200: Provider },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

const setTerms = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'setProviderTerms',
  method: 'POST',
  path: '/providers/{providerId}/terms',
  summary: 'Set the terms of a provider',
  description:
    'Replaces limits, cut-off times, prefunding and automatic pause. The terms take effect in all ' +
    'processes within a second.',
  commands: ['providers set-terms'],
  params: providerParams,
  body: Type.Object({ terms: ProviderTerms, ...OptionalReason }),
  replies: { 200: Provider },
  errors: ['NOT_FOUND'],
});

const setBalance = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'setProviderBalance',
  method: 'POST',
  path: '/providers/{providerId}/balances',
  summary: 'Set a prefunded balance',
  description:
    'Records the prefunded balance at the provider. Payouts and refunds sent after `asOf` are deducted. ' +
    'The terms must have prefunding in the currency.',
  commands: ['providers set-balance'],
  params: providerParams,
  body: Type.Object({
    currency: text('Currency code, such as `EUR`.', { minLength: 3, maxLength: 10 }),
    amount: Amount,
    asOf: Type.Optional(
      time(
        'Time of the balance. The default is the time of the request. The time must not be in ' +
          'the future, or before the time of the stored balance.',
      ),
    ),
    ...OptionalReason,
  }),
  replies: { 200: Provider },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

const health = operation({
  ...READS_PROVIDERS,
  operationId: 'getProviderHealth',
  method: 'GET',
  path: '/provider-health',
  summary: 'Get the health of providers',
  description:
    'Returns the calls, durations and results of each provider in the last 5 minutes, hour and day, ' +
    'over all server processes.',
  commands: ['providers health'],
  query: Type.Object({
    providerId: Type.Optional(text('Return only this provider.')),
  }),
  replies: { 200: ProviderHealth },
  errors: [],
});

const importFile = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'importProviders',
  method: 'POST',
  path: '/provider-configuration',
  summary: 'Import providers and routes',
  description:
    'Adds and changes the providers of a file, and replaces all routes if the file contains routes. The ' +
    'file is validated completely and applied in one commit. A second import of the same file has ' +
    'no effect. A dry run returns the changes without applying them.',
  commands: ['providers import'],
  body: Type.Object(
    {
      ...ProviderFile.properties,
      dryRun: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Returns the changes without applying them.',
        }),
      ),
      ...OptionalReason,
    },
    { additionalProperties: false },
  ),
  replies: { 200: FileResult },
  errors: ['CONFLICT'],
});

const exportFile = operation({
  ...READS_PROVIDERS,
  operationId: 'exportProviders',
  method: 'GET',
  path: '/provider-configuration',
  summary: 'Export providers and routes',
  description:
    'Returns the providers and routes as a file for `importProviders`. The file contains no secrets.',
  commands: ['providers export'],
  replies: { 200: named('ProviderFile', ProviderFile) },
  errors: [],
});

/** Dependencies of provider management for an audited call. */
export const managerOf = async ({ installation }: OperatorCall): Promise<ManagerDeps> => ({
  runtime: installation.runtime,
  directory: await installation.providers(),
});

const handleStep = (contract: typeof check, run: typeof providerManagement.pause) =>
  operatorHandle(contract, async (call, { params, body }) => ({
    status: 200,
    body: await run(await managerOf(call), params.providerId, body?.reason),
  }));

const overlapMs = (hours = DEFAULT_OVERLAP_HOURS) => hours * HOUR_MS;

export const providerOperations = [
  operatorHandle(list, async (call) => ({
    status: 200,
    body: { data: providerManagement.list(await managerOf(call), call.installation.builtIn()) },
  })),
  operatorHandle(get, async (call, { params }) => ({
    status: 200,
    body: await providerManagement.get(await managerOf(call), params.providerId),
  })),
  operatorHandle(create, async (call, { body }) => ({
    status: 201,
    body: await providerManagement.create(await managerOf(call), body),
  })),
  handleStep(check, providerManagement.check),
  handleStep(pause, providerManagement.pause),
  handleStep(resume, providerManagement.resume),
  operatorHandle(rotate, async (call, { params, body }) => {
    const deps = await managerOf(call);
    const { providerId } = params;
    return {
      status: 200,
      body: await providerManagement.rotateKey(deps, providerId, overlapMs(body?.overlapHours)),
    };
  }),
  operatorHandle(addKey, async (call, { params: { providerId }, body }) => {
    const deps = await managerOf(call);
    const overlap = overlapMs(body.overlapHours);
    return {
      status: 200,
      body: await providerManagement.addKey(deps, providerId, body.publicKeyPem, overlap),
    };
  }),
  operatorHandle(setTerms, async (call, { params, body }) => ({
    status: 200,
    body: await providerManagement.setTerms(await managerOf(call), params.providerId, body.terms),
  })),
  operatorHandle(setBalance, async (call, { params, body }) => ({
    status: 200,
    body: await providerManagement.setBalance(await managerOf(call), params.providerId, body),
  })),
  operatorHandle(health, async (call, { query }) => ({
    status: 200,
    body: { data: await providerManagement.health(await managerOf(call), query.providerId) },
  })),
  operatorHandle(importFile, async (call, { body: { dryRun = false, reason: _, ...file } }) => ({
    status: 200,
    body: await providerManagement.import(await managerOf(call), file, dryRun),
  })),
  operatorHandle(exportFile, async (call) => ({
    status: 200,
    body: await providerManagement.export(await managerOf(call)),
  })),
];
