// Builds the world `business` through the operations of the API. The clock of the platform starts
// 60 days ago and advances to the present with the payments, so all resources have realistic times.
// Payments of different customers within two hours are executed concurrently, within one minute
// of the clock. The jobs that they stage run when the clock advances.
import type { Caller } from '../../../kernel/caller.ts';
import type { Time } from '../../../kernel/effects.ts';
import { Fault, isTransient } from '../../../kernel/fault.ts';
import { uuid7 } from '../../../kernel/id.ts';
import { beginClock, releaseClock } from '../../../runtime/clocks/clock-changes.ts';
import type { ClockRow } from '../../../runtime/clocks/clock-table.ts';
import type { Files } from '../../../runtime/files/files.ts';
import type { Operation } from '../../../runtime/operation/feature.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { agentCaller } from '../../agents/index.ts';
import { advanceTo, type ClockWork } from '../clock/advance.ts';
import type { WorldDeps } from '../world/fixtures.ts';
import { resolve } from '../world/references.ts';
import { businessPlan } from './plan.ts';
import type { Action, PlannedStep, UploadStep } from './steps.ts';

export interface BusinessDeps extends WorldDeps {
  files: Pick<Files, 'put'>;
}

export interface BusinessInput {
  platformId: string;
  /** Time at which the world starts. */
  from: Time;
  /** Approximate number of payments. */
  payments: number;
}

/** Maximum actions per batch. Larger batches are not faster. */
const MAX_BATCH_SIZE = 40;
/**
 * A batch is shorter than the delay before any action that depends on the jobs of an earlier
 * action.
 */
const MAX_BATCH_SPAN_MS = 2 * 3_600_000;
/**
 * The actions of a batch are committed in any order. Lists of events require that times follow the
 * order of commits within two minutes.
 */
const BATCH_MS = 60_000;
/** Time between two steps of an action. */
const STEP_MS = 4_000;

interface Build {
  runtime: Runtime;
  deps: BusinessDeps;
  caller: Caller;
  operations: ReadonlyMap<string, Operation>;
  /** Responses by step name. */
  responses: Map<string, unknown>;
}

/**
 * The runtime with the clock of the platform at a time. IDs have this time too, because lists are in
 * the order of IDs.
 */
const runtimeAt = (runtime: Runtime, now: Time): Runtime => ({
  ...runtime,
  ids: () => ({ ...runtime.effects, now: () => now }),
  clocks: {
    ...runtime.clocks,
    timeOf: () => ({ now, ownClock: true }),
    nowOf: async () => now,
  },
});

const isUpload = (step: PlannedStep): step is UploadStep => 'file' in step;

async function* chunksOf(content: Buffer) {
  yield content;
}

async function run(build: Build, runtime: Runtime, step: PlannedStep): Promise<unknown> {
  const { deps, operations, responses } = build;
  const operation = operations.get(step.operationId);
  if (!operation) throw new Error(`no operation ${step.operationId}`);
  const resolveValue = (value: unknown, field: string) => resolve(value, responses, field);
  const body = resolveValue(step.body, 'body');
  if (isUpload(step)) {
    const { fileName, content } = step.file;
    const { upload } = operation.contract;
    if (!upload) throw new Error(`${step.operationId} does not accept a file`);
    const file = await deps.files.put(build.caller, chunksOf(content()), { ...upload, fileName });
    const request = { params: {}, query: {}, body: { ...(body as object), file } };
    return deps.perform(runtime, build.caller, operation, request);
  }
  const agentId = resolveValue(step.agentId, 'agentId') as string | undefined;
  const { platformId } = build.caller;
  const caller = agentId ? await agentCaller(runtime, platformId, agentId) : build.caller;
  const params = resolveValue(step.params ?? {}, 'params') as Record<string, string>;
  const query = resolveValue(step.query ?? {}, 'query') as Record<string, unknown>;
  return deps.perform(runtime, caller, operation, { params, query, body });
}

/** Runs the steps of an action. A rejection that the plan permits stops the action. */
async function perform(build: Build, { at, steps }: Action): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const runtime = runtimeAt(build.runtime, at + index * STEP_MS);
    try {
      const response = await run(build, runtime, step);
      if (step.name) build.responses.set(step.name, response);
    } catch (error) {
      const isPermitted = !isUpload(step) && step.mayBeRejected && error instanceof Fault;
      if (isPermitted && !isTransient(error.code)) return;
      throw new Error(`${step.operationId}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Batches of actions that run concurrently. */
function* batchesOf(actions: readonly Action[]): Generator<readonly Action[]> {
  let batch: Action[] = [];
  for (const action of actions) {
    const [first] = batch;
    if (first && (batch.length === MAX_BATCH_SIZE || action.at - first.at > MAX_BATCH_SPAN_MS)) {
      yield batch;
      batch = [];
    }
    batch.push(action);
  }
  if (batch.length) yield batch;
}

/** Moves the times of a batch to at most a minute before its last action. */
function compressBatch(batch: readonly Action[]): Action[] {
  const lastAction = batch.at(-1) as Action;
  return batch.map((action, index) => {
    const remainingMs = Math.round(((batch.length - 1 - index) * BATCH_MS) / MAX_BATCH_SIZE);
    return { ...action, at: Math.max(action.at, lastAction.at - remainingMs) };
  });
}

async function performAll(build: Build, actions: readonly Action[]): Promise<void> {
  const runs = [...new Set(actions.map(({ owner }) => owner))].map(async (owner) => {
    for (const action of actions) if (action.owner === owner) await perform(build, action);
  });
  const results = await Promise.allSettled(runs);
  const failure = results.find((each) => each.status === 'rejected');
  if (failure) throw failure.reason;
}

/** Advances the clock and executes all work that is due by then. */
async function advanceUntil(runtime: Runtime, work: ClockWork, clock: ClockRow, at: Time) {
  let progress = await advanceTo(runtime, work, clock, at);
  while (!progress.isReached) progress = await advanceTo(runtime, work, progress.clock, at);
  return progress.clock;
}

/** Builds the world. The platform then has its own clock, and this clock follows real time. */
export async function buildBusiness(
  runtime: Runtime,
  work: ClockWork,
  caller: Caller,
  deps: BusinessDeps,
  { platformId, from, payments }: BusinessInput,
): Promise<void> {
  const { db, effects, clocks } = runtime;
  const holder = uuid7(effects);
  const until = effects.now();
  const heldClock = await beginClock(db, { platformId, holder, at: from, realTime: until });
  if (!heldClock)
    throw new Fault('CONFLICT', 'The platform has its own clock. Reset the sandbox first.');
  clocks.replace(heldClock);
  let clock = heldClock;
  const operations = new Map(
    deps.operations().map((each) => [each.contract.operationId, each] as const),
  );
  const build: Build = { runtime, deps, caller, operations, responses: new Map() };
  try {
    await operate(runtime, caller, work.stage);
    for (const batch of batchesOf(businessPlan({ from, until, payments }))) {
      const actions = compressBatch(batch);
      const [first] = actions as [Action];
      // Jobs that earlier actions staged are executed first.
      clock = await advanceUntil(runtime, work, clock, Math.max(first.at, clock.stands_at as Time));
      await performAll(build, actions);
    }
    clock = await advanceUntil(runtime, work, clock, effects.now());
  } finally {
    const realTimeClock = { frozen: false, target: null, realTime: effects.now() };
    clocks.replace(await releaseClock(db, clock, realTimeClock));
    runtime.wake.jobs();
    runtime.wake.events();
  }
}
