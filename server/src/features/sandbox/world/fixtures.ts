// Builds a world by calling operations one after the other, as the caller or as an agent. A step can refer
// to the responses of earlier steps.
import { createHash } from 'node:crypto';
import type { Caller } from '../../../kernel/caller.ts';
import { type Bound, type Permission, withoutSecrets } from '../../../kernel/contract/operation.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { Fault, isTransient } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { agentCaller } from '../../agents/index.ts';
import { checkSteps } from './problems.ts';
import { resolve } from './references.ts';
import type { Step } from './step.ts';

type Operation = Bound<Ctx>;

/** Parts of a request that a step can contain. */
interface StepRequest {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
}

export interface WorldDeps {
  /** All operations of the server. */
  operations(): readonly Operation[];
  /** Validates a request and runs it, as a route does. Throws `Fault`. */
  perform(
    runtime: Runtime,
    caller: Caller,
    operation: Operation,
    request: StepRequest,
  ): Promise<unknown>;
}

/** Operations that no step can call, in addition to uploads and operations without a permission. */
const EXCLUDED_OPERATIONS = ['resetSandbox', 'createSandboxFixtures'];

const isCallable = ({ contract }: Operation) =>
  contract.permission !== undefined &&
  contract.upload === undefined &&
  !EXCLUDED_OPERATIONS.includes(contract.operationId);

/** The time in IDs that are derived from a seed. */
const SEEDED_TIME = Date.UTC(2025, 0, 1);

/**
 * Returns a factory of generators with the same IDs in each run. A generator is created for each
 * attempt of a step. The IDs depend on the platform, because IDs are unique in the whole
 * database.
 */
function seededIds(runtime: Runtime, seed: string, platformId: string, step: number) {
  return (): Effects => {
    let count = 0;
    return {
      ...runtime.effects,
      now: () => SEEDED_TIME + step,
      random(bytes) {
        const text = `${platformId} ${step} ${count++} ${seed}`;
        return createHash('sha256').update(text).digest().subarray(0, bytes);
      },
    };
  };
}

/** Whether the error is a duplicate primary key. Only IDs from a seed can collide. */
const isIdTaken = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint?.endsWith('_pkey') ?? false;

/** The error that a client would receive, or undefined for transient and internal errors. */
function rejectionOf(error: unknown) {
  if (!(error instanceof Fault) || isTransient(error.code)) return undefined;
  const { code, message: reason, details } = error;
  return { code, reason, ...(details ? { details } : {}) };
}

/** The fault of a step, with its number. */
function faultOf(fault: unknown, index: number, { operationId }: Step): unknown {
  if (isIdTaken(fault)) {
    return new Fault(
      'CONFLICT',
      'Fixtures with this seed already exist. Reset the sandbox, or use another seed.',
    );
  }
  const error = rejectionOf(fault);
  if (!error) return fault;
  const message = `Step ${index}, ${operationId}, was rejected: ${error.reason}`;
  return new Fault('INVALID_INPUT', message, { step: index, error });
}

/** The request of a step, with all references replaced. */
function requestOf(step: Step, results: ReadonlyMap<string, unknown>, index: number) {
  const resolvePart = <T>(name: keyof Step, value: unknown) =>
    resolve(value, results, `steps.${index}.${name}`) as T;
  return {
    params: resolvePart<Record<string, string>>('params', step.params ?? {}),
    query: resolvePart<Record<string, unknown>>('query', step.query ?? {}),
    body: resolvePart<unknown>('body', step.body),
    agentId: resolvePart<string | undefined>('agentId', step.agentId),
  };
}

function checkPermissions(caller: Caller, calledOperations: readonly Operation[]): void {
  const requiredPermissions = calledOperations.map(
    ({ contract }) => contract.permission as Permission,
  );
  const missingPermissions = [...new Set(requiredPermissions)].filter(
    (each) => !caller.permissions.includes(each),
  );
  if (missingPermissions.length === 0) return;
  throw new Fault(
    'FORBIDDEN',
    `The token lacks permissions that the steps require: ${missingPermissions.join(', ')}.`,
  );
}

/** Responses by the names of their steps. */
interface World {
  resources: Record<string, unknown>;
  /** Responses for replays, without secrets that are returned once. */
  replayResources: Record<string, unknown>;
}

/** Runs `steps` and returns the responses of the steps with a name. */
export async function buildWorld(
  runtime: Runtime,
  caller: Caller,
  deps: WorldDeps,
  { steps, seed }: { steps: readonly Step[]; seed: string | undefined },
): Promise<World> {
  const operations = new Map(
    deps.operations().flatMap((operation) => {
      return isCallable(operation) ? [[operation.contract.operationId, operation] as const] : [];
    }),
  );
  checkSteps(steps, operations);
  const calledOperations = steps.map(({ operationId }) => operations.get(operationId) as Operation);
  checkPermissions(caller, calledOperations);
  const results = new Map<string, unknown>();
  const replayResources: World['replayResources'] = {};
  const { platformId } = caller;
  for (const [index, step] of steps.entries()) {
    const operation = calledOperations[index] as Operation;
    const ids = seed === undefined ? undefined : seededIds(runtime, seed, platformId, index);
    const seededRuntime = ids ? { ...runtime, ids } : runtime;
    const request = requestOf(step, results, index);
    try {
      const stepCaller = request.agentId
        ? await agentCaller(runtime, platformId, request.agentId)
        : caller;
      const response = await deps.perform(seededRuntime, stepCaller, operation, request);
      if (step.name === undefined) continue;
      results.set(step.name, response);
      replayResources[step.name] = withoutSecrets(operation.contract, response);
    } catch (error) {
      const rejection = step.mayBeRejected ? rejectionOf(error) : undefined;
      if (!rejection) throw faultOf(error, index, step);
      if (step.name === undefined) continue;
      results.set(step.name, rejection);
      replayResources[step.name] = rejection;
    }
  }
  return { resources: Object.fromEntries(results), replayResources };
}
