// Contracts that reset a sandbox platform and fill it with fixtures.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import { NO_QUERY, named, oneOf } from '../../../kernel/schema.ts';
import { FixtureStep, MAX_STEPS } from './step.ts';
import { MAX_PAYMENTS, WORLD_LIST, WORLD_NAMES } from './worlds.ts';

const TAG = 'Sandbox Fixtures';

const SandboxResetRequest = named(
  'SandboxResetRequest',
  Type.Object(
    {
      including: Type.Optional(
        Type.Array(
          oneOf(['CONFIGURATION', 'TOKENS'], { description: 'Additional part to reset.' }),
          {
            uniqueItems: true,
            description:
              'Additional parts to reset. `CONFIGURATION`: the settings that `PATCH /config` ' +
              'changes are reset to their defaults. The enabled currencies remain. `TOKENS`: all ' +
              'tokens except the calling token are deleted.',
          },
        ),
      ),
    },
    { additionalProperties: false, description: 'Options of a reset.' },
  ),
);

const SandboxResetResult = named(
  'SandboxResetResult',
  Type.Object(
    {
      removed: Type.Object(
        {
          customers: Type.Integer({ description: 'Number of removed customers.' }),
          transactions: Type.Integer({ description: 'Number of removed transactions.' }),
          events: Type.Integer({ description: 'Number of removed events.' }),
          rows: Type.Integer({ description: 'Number of all removed rows of the database.' }),
        },
        { description: 'Numbers of removed rows.' },
      ),
    },
    { description: 'Result of a reset.' },
  ),
);

export const resetSandbox = operation({
  operationId: 'resetSandbox',
  method: 'POST',
  path: '/sandbox/reset',
  tag: TAG,
  summary: 'Remove all data of a sandbox platform',
  description:
    'Removes the customers, accounts, payments, cards, agents, events and all other data of the ' +
    'sandbox platform, permanently. Its configuration, webhook endpoints, tokens, own accounts ' +
    'and recorded requests remain. The balances of these accounts become zero. The clock of the ' +
    'platform follows real time again. Other platforms are not affected.',
  permission: 'MANAGE',
  query: NO_QUERY,
  sandboxOnly: true,
  bodyOptional: true,
  callsExternal: true,
  body: SandboxResetRequest,
  replies: { 200: SandboxResetResult },
  errors: [],
});

const SandboxFixtureRequest = named(
  'SandboxFixtureRequest',
  Type.Object(
    {
      world: Type.Optional(
        oneOf(WORLD_NAMES, {
          description:
            'Built-in set of resources to create before `steps`. `business` is created in the ' +
            'background. The clock of the platform starts 60 days ago and reaches the present ' +
            'when `business` is complete. `business` requires a platform without customers and ' +
            'without its own clock, and cannot be combined with `steps` or `seed`.',
          'x-enumDescriptions': Object.fromEntries(
            WORLD_LIST.map(({ name, summary }) => [name, summary]),
          ),
        }),
      ),
      payments: Type.Optional(
        Type.Integer({
          minimum: 50,
          maximum: MAX_PAYMENTS,
          description:
            'Approximate number of payments of the `world` `business`, 50 to 20,000. Defaults ' +
            'to 5,000.',
        }),
      ),
      steps: Type.Optional(
        Type.Array(FixtureStep, {
          minItems: 1,
          maxItems: MAX_STEPS,
          description: 'Calls that create the resources, in this order.',
        }),
      ),
      seed: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description:
            'On one platform, the same seed and steps create the same IDs each time. IDs of ' +
            'events, and of resources that jobs create later, are not affected. Steps with a ' +
            'seed can be repeated only after a reset.',
        }),
      ),
    },
    {
      additionalProperties: false,
      minProperties: 1,
      description:
        'The customers, accounts, payments and other resources to create: a built-in `world`, ' +
        'own `steps`, or both.',
    },
  ),
);

/** Rejects fields that the selected world does not have. */
function worldErrors(body: unknown): FieldError[] {
  if (typeof body !== 'object' || body === null) return [];
  const { world, payments, steps, seed } = body as Record<string, unknown>;
  const excludedFields = world === 'business' ? { steps, seed } : { payments };
  const message =
    world === 'business'
      ? 'must be absent with the world business'
      : 'must be absent unless the world is business';
  return Object.entries(excludedFields).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, message }],
  );
}

const SandboxWorld = named(
  'SandboxWorld',
  Type.Object(
    {
      steps: Type.Integer({
        description: 'Number of calls. 0 for a `world` that is created in the background.',
      }),
      resources: Type.Record(Type.String(), Type.Unknown(), {
        description: 'The response of each step with a name, by that name.',
      }),
    },
    { description: 'Result of the calls.' },
  ),
);

export const createSandboxFixtures = operation({
  operationId: 'createSandboxFixtures',
  method: 'POST',
  path: '/sandbox/fixtures',
  tag: TAG,
  summary: 'Create fixtures in a sandbox platform',
  description:
    'Calls operations in order, with the permissions of the calling token, and returns their ' +
    'responses by name. Use fixtures to bring a sandbox platform into a known state before a ' +
    'test. The call emits the events of these operations. A rejected step stops the call ' +
    'unless it has `mayBeRejected`. In the reply, `details.step` is the number of this step, ' +
    'from 0, and `details.error` is its error. Earlier steps are not undone. A repetition with ' +
    'the same `Idempotency-Key` omits secrets that the called operations return once.',
  permission: 'MANAGE',
  query: NO_QUERY,
  sandboxOnly: true,
  callsExternal: true,
  callsOperations: true,
  sealed: true,
  body: SandboxFixtureRequest,
  bodyRules: worldErrors,
  maxBody: { bytes: 262_144, reason: 'a request has up to 500 steps, each with a body' },
  replies: { 201: SandboxWorld },
  errors: [],
});
