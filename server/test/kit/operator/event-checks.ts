// Compares the emitted events of each operation with http/operation/events.ts: the events in the
// commit of its request, and the events of the jobs that the request started, directly or by
// another job.
import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';
import { webhookContracts } from '../../../src/features.ts';
import { canEmit, laterWebhooksOf } from '../../../src/http/operation/events.ts';
import type { ChangeSet } from '../../../src/runtime/committer/change-set.ts';

interface Request {
  /** Set when the reply is checked. */
  operationId?: string;
  /** Types of the events that were committed while the request ran. */
  types: Set<string>;
}

const currentRequest = new AsyncLocalStorage<Request>();

/** Runs a request whose commits are attributed to its operation. */
export const inRequest = <R>(work: () => R): R => currentRequest.run({ types: new Set() }, work);

/** Operations that execute steps emit the events of other operations. */
const EXECUTES_STEPS = 'updateSandboxClock';

const webhookOfType = new Map<string, string>(
  webhookContracts.flatMap(({ name, events }) => events.map(({ type }) => [type, name] as const)),
);

const canEmitLater = (operationId: string, type: string): boolean =>
  canEmit(operationId, type) ||
  laterWebhooksOf(operationId).some((name) => name === webhookOfType.get(type));

/** Reports events of the current request that the list of its operation does not contain. */
export function checkRequestEvents(
  operationId: string,
  problems: string[],
  repliesFile?: string,
): void {
  const request = currentRequest.getStore();
  if (!request) return;
  request.operationId = operationId;
  if (operationId === EXECUTES_STEPS) return;
  for (const type of request.types) {
    if (repliesFile) appendFileSync(repliesFile, `${operationId} emits ${type}\n`);
    if (!canEmit(operationId, type)) {
      problems.push(`${operationId}: http/operation/events.ts does not list ${type}`);
    }
  }
}

type CommittedSet = Pick<ChangeSet, 'inserts' | 'removes' | 'events'>;

/**
 * Returns a function that records a commit of a server, and reports events of jobs that the list of
 * the operation does not contain.
 */
export function commitRecorder(problems: string[], repliesFile?: string) {
  /** Job → the request that started it. */
  const origins = new Map<string, Request>();
  function checkJobEvent(operationId: string, type: string): void {
    if (operationId === EXECUTES_STEPS) return;
    if (repliesFile) appendFileSync(repliesFile, `${operationId} emits-later ${type}\n`);
    if (!canEmitLater(operationId, type)) {
      problems.push(`${operationId}: http/operation/events.ts lists no later webhook of ${type}`);
    }
  }

  return ({ inserts, removes, events }: CommittedSet): void => {
    const request = currentRequest.getStore();
    const [origin] = request
      ? [request]
      : removes.flatMap(({ table, id }) => (table.name === 'jobs' ? (origins.get(id) ?? []) : []));
    if (!origin) return;
    for (const { table, row } of inserts) {
      if (table.name === 'jobs') origins.set(String(row.id), origin);
    }
    for (const { type } of events) {
      if (request) request.types.add(type);
      else if (origin.operationId) checkJobEvent(origin.operationId, type);
    }
  };
}
