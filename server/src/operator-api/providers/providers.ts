// Operations on providers: creation, capability check, pause, and keys.
import { Type } from '@sinclair/typebox';
import { type ManagerParts, providerManagement } from '../../features/providers/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import { named } from '../../kernel/schema.ts';
import {
  DEFAULT_OVERLAP_HOURS,
  HOUR_MS,
  MAX_OVERLAP_HOURS,
} from '../../runtime/security/key-rotation.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import { OptionalReason } from '../schemas.ts';
import {
  CHANGES_PROVIDERS,
  Environment,
  Provider,
  ProviderId,
  PublicKeyPem,
  providerParams,
  READS_PROVIDERS,
} from './schemas.ts';

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
  description: 'Returns all providers by name, with their keys and capabilities.',
  commands: ['providers list'],
  replies: {
    200: named(
      'Providers',
      Type.Object({ data: Type.Array(Provider, { description: 'Providers by name.' }) }),
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
  description: 'Returns a provider with its keys and capabilities.',
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
    url: Type.String({
      maxLength: 2_000,
      description: 'Base URL of the provider, without a query.',
    }),
    publicKeyPem: PublicKeyPem,
    privateAddressAllowed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether plain HTTP and addresses that are not public are allowed.',
      }),
    ),
    ...OptionalReason,
  }),
  replies: { 201: Provider },
  errors: ['CONFLICT'],
});

const step = (operationId: string, verb: string, summary: string, description: string) =>
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

const check = step(
  'checkProvider',
  'check',
  'Check a provider',
  'Requests the capabilities of the provider and stores them. If the check fails, `problem` of the ' +
    'reply contains the reason and the stored capabilities are unchanged.',
);
const pause = step(
  'pauseProvider',
  'pause',
  'Pause a provider',
  'Within a second the provider receives no new transfers. Transfers already sent to it continue.',
);
const resume = step(
  'resumeProvider',
  'resume',
  'Resume a provider',
  'The provider receives new transfers again.',
);

const rotate = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'rotateProviderKey',
  method: 'POST',
  path: '/providers/{providerId}/rotate',
  summary: 'Rotate the signing key for a provider',
  description:
    'Generates a new signing key for calls to the provider. It becomes active after the overlap; send its ' +
    'public key to the provider before. The earlier keys are retired after twice the overlap.',
  commands: ['providers rotate'],
  params: providerParams,
  body: Type.Object({
    overlapHours: OverlapHours('Hours until the new key becomes active. Defaults to 24.'),
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
    'Messages signed with this key are accepted immediately. Messages signed with earlier keys are ' +
    'accepted until the overlap ends.',
  commands: ['providers add-key'],
  params: providerParams,
  body: Type.Object({
    publicKeyPem: PublicKeyPem,
    overlapHours: OverlapHours('Hours for which earlier keys are accepted. Defaults to 24.'),
    ...OptionalReason,
  }),
  replies: { 200: Provider },
  errors: ['NOT_FOUND', 'CONFLICT'],
});

/** Dependencies of provider management for an audited call. */
export const managerOf = async ({ installation }: OperatorCall): Promise<ManagerParts> => ({
  runtime: installation.runtime,
  directory: await installation.providers(),
});

const handleStep = (
  contract: typeof check,
  run: (parts: ManagerParts, providerId: string) => ReturnType<typeof providerManagement.get>,
) =>
  operatorHandle(contract, async (call, { params }) => ({
    status: 200,
    body: await run(await managerOf(call), params.providerId),
  }));

export const providerOperations = [
  operatorHandle(list, async (call) => ({
    status: 200,
    body: { data: await providerManagement.list(await managerOf(call)) },
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
  operatorHandle(rotate, async (call, { params, body }) => ({
    status: 200,
    body: await providerManagement.rotateKey(
      await managerOf(call),
      params.providerId,
      (body?.overlapHours ?? DEFAULT_OVERLAP_HOURS) * HOUR_MS,
    ),
  })),
  operatorHandle(addKey, async (call, { params, body }) => ({
    status: 200,
    body: await providerManagement.addKey(
      await managerOf(call),
      params.providerId,
      body.publicKeyPem,
      (body.overlapHours ?? DEFAULT_OVERLAP_HOURS) * HOUR_MS,
    ),
  })),
];
