// The operations of recorded requests. Records of this process are written before they are read, so
// that a client finds its last request. Other processes write their records within one second. The
// read of a new request waits for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import { timeOfUuid7 } from '../../../kernel/id.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { getRequestById, listRequests } from './contract.ts';
import { type RecordedRequest, readRequest } from './lookup.ts';
import { pageOfRequests } from './pages.ts';
import { presentDetails, presentRequest } from './present.ts';
import { isRequestId } from './store.ts';

export interface RequestPorts {
  /** Writes the records of this process. */
  flushRequests(): Promise<void>;
  /** Whether the server has an operation with this ID. */
  isOperation(operationId: string): boolean;
}

/** Time within which another process writes its records. */
const RECORDED_MS = 1_000;
const RECHECK_MS = 100;

/**
 * A request by its ID, and the waiting time as `idleMs`. Waits for a request that another process may be
 * about to record.
 */
async function awaitRequest(
  ctx: Ctx,
  id: string,
  signal: AbortSignal | undefined,
): Promise<{ recorded: RecordedRequest | undefined; idleMs: number }> {
  for (let idleMs = 0; ; idleMs += RECHECK_MS) {
    const recordedRequest = await readRequest(ctx.db, ctx.caller.platformId, id);
    const ageMs = isRequestId(id) ? Math.abs(ctx.effects.now() - timeOfUuid7(id)) : RECORDED_MS;
    const mayBeRecorded = ageMs < RECORDED_MS && idleMs < RECORDED_MS && !signal?.aborted;
    if (recordedRequest || !mayBeRecorded) return { recorded: recordedRequest, idleMs };
    await sleep(RECHECK_MS);
  }
}

export const requestOperations = ({ flushRequests, isOperation }: RequestPorts) => [
  handle(listRequests, async (ctx, { query }) => {
    const { operationId, limit = 20, cursor, sortOrder: sort = 'desc' } = query;
    if (operationId !== undefined && !isOperation(operationId)) {
      throw invalidField('operationId', 'must be an operation of this API, such as createQuote');
    }
    const errors = rangeErrors(query);
    if (errors.length) throw invalid(errors);
    await flushRequests();
    const page = { sort, limit, cursor, now: ctx.effects.now() };
    const { rows, ...rest } = await pageOfRequests(ctx.db, ctx.caller.platformId, query, page);
    return { status: 200, body: { data: rows.map(presentRequest), ...rest } };
  }),

  handle(getRequestById, async (ctx, { params, disconnect: signal }) => {
    await flushRequests();
    const { recorded: recordedRequest, idleMs } = await awaitRequest(ctx, params.requestId, signal);
    if (!recordedRequest) {
      throw new Fault(
        'NOT_FOUND',
        'Request not found. It may belong to another platform or be older than the retention period.',
      );
    }
    return { status: 200, body: presentDetails(recordedRequest), idleMs };
  }),
];
