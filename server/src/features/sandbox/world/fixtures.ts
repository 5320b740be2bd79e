// Builds a world: calls operations one after the other, as the caller, with references to the
// responses of earlier steps.
import { createHash } from 'node:crypto';
import type { Caller } from '../../../kernel/caller.ts';
import { type Bound, type Permission, withoutSecrets } from '../../../kernel/contract/operation.ts';
import type { Effects } from '../../../kernel/effects.ts';
import { Fault, isTransient } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { checkSteps } from './problems.ts';
import { resolve } from './references.ts';
import type { Step } from './step.ts';

type Operation = Bound<Ctx>;

/** The parts of a request that a step has. */
interface StepRequest {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: unknown;
}

export interface WorldParts {
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

/** Operations that no step can call: files come as forms, and these would call themselves. */
const EXCLUDED = ['resetSandbox', 'createSandboxFixtures'];

const isCallable = ({ contract }: Operation) =>
  contract.permission !== undefined &&
  contract.auth !== 'agent' &&
  contract.upload === undefined &&
  !EXCLUDED.includes(contract.operationId);

/** The time in ids that come from a seed. */
const SEEDED_TIME = Date.UTC(2025, 0, 1);

/**
 * A source of ids that gives the same ones each time, in the order of the steps. It is made anew
 * for each attempt of a step, and names the platform, as ids are unique in the whole database.
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

/** Whether a row with the id exists, which only ids from a seed can cause. */
const isIdTaken = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint?.endsWith('_pkey') ?? false;

/** The fault of a step, with its number. */
function faultOf(error: unknown, at: number, { operationId }: Step): unknown {
  if (isIdTaken(error)) {
    return new Fault('CONFLICT', 'A world with this seed exists. Reset the sandbox first.');
  }
  if (!(error instanceof Fault) || isTransient(error.code)) return error;
  const { code, message: reason, details } = error;
  return new Fault('INVALID_INPUT', `Step ${at}, ${operationId}, was rejected: ${reason}`, {
    step: at,
    error: { code, reason, ...(details ? { details } : {}) },
  });
}

function checkPermissions(caller: Caller, called: readonly Operation[]): void {
  const needed = called.map(({ contract }) => contract.permission as Permission);
  const missing = [...new Set(needed)].filter((each) => !caller.permissions.includes(each));
  if (missing.length === 0) return;
  throw new Fault('FORBIDDEN', `The steps need permissions of the token: ${missing.join(', ')}.`);
}

/** Responses by the names of their steps. */
interface World {
  resources: Record<string, unknown>;
  /** The same for replays: secrets that are shown once are omitted. */
  replayed: Record<string, unknown>;
}

/** Makes the calls of `steps` and returns the responses of those with a name. */
export async function buildWorld(
  runtime: Runtime,
  caller: Caller,
  parts: WorldParts,
  { steps, seed }: { steps: readonly Step[]; seed: string | undefined },
): Promise<World> {
  const operations = new Map(
    parts.operations().flatMap((each) => {
      return isCallable(each) ? [[each.contract.operationId, each] as const] : [];
    }),
  );
  checkSteps(steps, operations);
  const called = steps.map(({ operationId }) => operations.get(operationId) as Operation);
  checkPermissions(caller, called);
  const named = new Map<string, unknown>();
  const replayed: World['replayed'] = {};
  for (const [index, step] of steps.entries()) {
    const operation = called[index] as Operation;
    const { platformId } = caller;
    const ids = seed === undefined ? undefined : seededIds(runtime, seed, platformId, index);
    const request = {
      params: resolve(step.params ?? {}, named, `steps.${index}.params`) as Record<string, string>,
      query: resolve(step.query ?? {}, named, `steps.${index}.query`) as Record<string, unknown>,
      body: resolve(step.body, named, `steps.${index}.body`),
    };
    try {
      const seeded = ids ? { ...runtime, ids } : runtime;
      const response = await parts.perform(seeded, caller, operation, request);
      if (step.name === undefined) continue;
      named.set(step.name, response);
      replayed[step.name] = withoutSecrets(operation.contract, response);
    } catch (error) {
      throw faultOf(error, index, step);
    }
  }
  return { resources: Object.fromEntries(named), replayed };
}
