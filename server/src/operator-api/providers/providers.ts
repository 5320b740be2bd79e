// Providers: their state, their check, their keys.
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
  description: 'Returns all providers by name, with their keys and what they offer.',
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
  description: 'Returns a provider with its keys and what it offers.',
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
    'Adds a provider and generates a key of this installation for it. The provider gets transfers ' +
    'after `checkProvider` has read what it offers and a route selects it.',
  commands: ['providers add'],
  body: Type.Object({
    providerId: ProviderId,
    environment: Environment,
    url: Type.String({
      maxLength: 2_000,
      description: 'Base URL of the calls to the provider, without a query.',
    }),
    publicKeyPem: PublicKeyPem,
    privateAddressAllowed: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Allows plain HTTP and an address that is not public.',
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
  'Requests what the provider offers and stores it. A failed check is the `problem` of the reply, ' +
    'and leaves what was offered before unchanged.',
);
const pause = step(
  'pauseProvider',
  'pause',
  'Pause a provider',
  'The provider gets no new transfers within a second. Those that it has continue.',
);
const resume = step('resumeProvider', 'resume', 'Resume a provider', 'It gets transfers again.');

const rotate = operation({
  ...CHANGES_PROVIDERS,
  operationId: 'rotateProviderKey',
  method: 'POST',
  path: '/providers/{providerId}/rotate',
  summary: 'Rotate the own key for a provider',
  description:
    'Generates a new key of this installation, which signs calls after the overlap. Give it to the ' +
    'provider before. The earlier keys are retired after the same time again.',
  commands: ['providers rotate'],
  params: providerParams,
  body: Type.Object({
    overlapHours: OverlapHours('Hours until the new key signs. Defaults to 24.'),
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
  summary: 'Add a key of a provider',
  description:
    'Accepts messages that are signed with this key at once, and those with earlier keys for the ' +
    'overlap.',
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

/** The functions of providers for a call, whose changes are audited. */
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
