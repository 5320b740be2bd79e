// The clock, the data and the worlds of sandbox platforms. An operation on a platform calls the
// platform API on its behalf. One audit record covers all change sets of a change.
import { Type } from '@sinclair/typebox';
import {
  createSandboxFixtures,
  getSandboxClock,
  resetSandbox,
  updateSandboxClock,
  WORLD_LIST,
} from '../../features/sandbox/index.ts';
import { platformById, systemCaller } from '../../features/tenancy/platform/index.ts';
import { type Contract, operation } from '../../kernel/contract/operation.ts';
import { Fault } from '../../kernel/fault.ts';
import { named, oneOf, text } from '../../kernel/schema.ts';
import { emptyChangeSet } from '../../runtime/committer/change-set.ts';
import { assertPlatform, type OperatorCall, operatorHandle } from '../handle.ts';
import { OptionalReason, Reason } from '../schemas.ts';
import { params } from './platforms.ts';

const TAG = 'Sandbox';
const optional = Type.Optional;
const platformId = text('ID of the platform.');

const Clock = named(
  'PlatformClock',
  Type.Intersect([Type.Object({ platformId }), getSandboxClock.replies[200]], {
    description: 'Clock of a sandbox platform.',
  }),
);

const getClock = operation({
  operationId: 'getPlatformClock',
  method: 'GET',
  path: '/platforms/{platformId}/clock',
  tag: TAG,
  summary: 'Get the clock of a sandbox platform',
  description: `${getSandboxClock.description} Returns CONFLICT for a production platform.`,
  auth: 'operator',
  operatorPermission: 'platforms.read',
  commands: [],
  params,
  replies: { 200: Clock },
  errors: ['CONFLICT'],
  notFound: 'PLATFORM_NOT_FOUND',
});

const CHANGE = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'sandbox.manage',
  commands: [],
  params,
  errors: ['CONFLICT'],
  notFound: 'PLATFORM_NOT_FOUND',
  callsExternal: true,
} as const;

const { advance, to, freeze } = updateSandboxClock.body.properties;

const changeClock = operation({
  ...CHANGE,
  operationId: 'changePlatformClock',
  path: '/platforms/{platformId}/clock',
  summary: 'Change the clock of a sandbox platform',
  description: updateSandboxClock.description,
  body: Type.Object({ advance, to, freeze, ...OptionalReason }),
  replies: { 200: Clock },
});

const reset = operation({
  ...CHANGE,
  operationId: 'resetPlatform',
  path: '/platforms/{platformId}/reset',
  summary: 'Remove all data of a sandbox platform',
  description: resetSandbox.description,
  body: Type.Object({
    isConfigurationReset: optional(
      Type.Boolean({
        description:
          'Whether the configuration of the platform is also reset to the defaults. Defaults to false.',
      }),
    ),
    reason: Reason,
  }),
  replies: {
    200: Type.Intersect([Type.Object({ platformId }), resetSandbox.replies[200]]),
  },
});

const { world, payments, steps, seed } = createSandboxFixtures.body.properties;

const fixtures = operation({
  ...CHANGE,
  operationId: 'createPlatformFixtures',
  path: '/platforms/{platformId}/fixtures',
  summary: 'Create fixtures in a sandbox platform',
  description:
    'Calls operations of the platform API in order, with all permissions. A rejected step ' +
    'stops the request unless the step has `mayBeRejected`. In the reply, `details.step` is the ' +
    'number of this step, from 0, and `details.error` is its error. Earlier steps are not undone.',
  body: Type.Object({ world, payments, steps, seed, ...OptionalReason }),
  bodyRules: createSandboxFixtures.bodyRules,
  maxBody: createSandboxFixtures.maxBody,
  replies: {
    201: Type.Object({
      platformId,
      steps: Type.Integer({
        description: 'Number of calls. 0 for a `world` that is created in the background.',
      }),
      resources: Type.Record(Type.String(), Type.String(), {
        description:
          'IDs of the resources by the name of their step. A reply without the field `id` is omitted.',
      }),
    }),
  },
});

const listWorlds = operation({
  operationId: 'listSandboxWorlds',
  method: 'GET',
  path: '/sandbox-worlds',
  tag: TAG,
  summary: 'List the built-in worlds',
  description:
    'Returns the built-in worlds. A world is a list of calls that create fixtures in a sandbox ' +
    'platform.',
  auth: 'operator',
  operatorPermission: 'platforms.read',
  commands: [],
  replies: {
    200: Type.Object({
      data: Type.Array(
        Type.Object({
          name: text('Name of the world.'),
          kind: oneOf(['WORLD', 'SCENARIO'], {
            description:
              'SCENARIO: creates one result and can be built repeatedly. WORLD: creates many results.',
          }),
          summary: text('Content of the world.'),
          steps: Type.Integer({
            description:
              'Number of calls that build the world. 0 for a world that is built in the background.',
          }),
        }),
        { description: 'All worlds.' },
      ),
    }),
  },
  errors: [],
});

type Request = Parameters<OperatorCall['world']['perform']>[3];

/** Calls an operation of a sandbox platform on its behalf. Throws CONFLICT for a production platform. */
async function callFor(
  { world: { operations, perform }, unauditedRuntime, operator }: OperatorCall,
  id: string,
  { operationId }: Contract,
  body?: Request['body'],
): Promise<Record<string, unknown>> {
  assertPlatform(operator, id, 'Platform not found.');
  const { environment } = await platformById(unauditedRuntime, id);
  if (environment !== 'sandbox') {
    throw new Fault('CONFLICT', 'This is a production platform. Use a sandbox platform.');
  }
  const calledOperation = operations().find(({ contract }) => contract.operationId === operationId);
  if (!calledOperation) throw new Error(`the platform API has no operation ${operationId}`);
  const caller = systemCaller(id, environment);
  const reply = await perform(unauditedRuntime, caller, calledOperation, {
    params: {},
    query: {},
    body,
  });
  return { platformId: id, ...(reply as object) };
}

/**
 * Executes a change. It is recorded even if it fails, because it may have been executed in part.
 */
async function changeFor(...[call, ...input]: Parameters<typeof callFor>) {
  try {
    return await callFor(call, ...input);
  } catch (error) {
    await call.installation.runtime.committer.commit(emptyChangeSet());
    throw error;
  }
}

/**
 * The ID in a reply. Other fields are omitted, because they may contain personal data and secrets.
 */
function idOf(reply: unknown): string | undefined {
  const { id } = (reply ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}

const idsIn = (resources: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(resources as object).flatMap(([name, reply]) => {
      const id = idOf(reply);
      return id === undefined ? [] : [[name, id]];
    }),
  );

type Body<O extends { replies: object }, S extends keyof O['replies']> = O['replies'][S] extends {
  static: infer B;
}
  ? B
  : never;

export const sandboxOperations = [
  operatorHandle(getClock, async (call, { params }) => {
    const body = await callFor(call, params.platformId, getSandboxClock);
    // Validated by the tests of the called operation.
    return { status: 200, body: body as Body<typeof getClock, 200> };
  }),
  operatorHandle(changeClock, async (call, { params, body: { reason: _, ...change } }) => {
    const body = await changeFor(call, params.platformId, updateSandboxClock, change);
    return { status: 200, body: body as Body<typeof changeClock, 200> };
  }),
  operatorHandle(reset, async (call, { params, body: { isConfigurationReset } }) => {
    const options = isConfigurationReset ? { including: ['CONFIGURATION'] } : {};
    const body = await changeFor(call, params.platformId, resetSandbox, options);
    return { status: 200, body: body as Body<typeof reset, 200> };
  }),
  operatorHandle(fixtures, async (call, { params, body: { reason: _, ...input } }) => {
    const fixtureReply = await changeFor(call, params.platformId, createSandboxFixtures, input);
    const { steps: count, resources } = fixtureReply;
    const reply = {
      platformId: params.platformId,
      steps: Number(count),
      resources: idsIn(resources),
    };
    return { status: 201, body: reply };
  }),
  operatorHandle(listWorlds, async () => {
    return { status: 200, body: { data: [...WORLD_LIST] } };
  }),
];
