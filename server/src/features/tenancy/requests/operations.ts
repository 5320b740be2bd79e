// The operations of recorded requests. Records of this process are written before they are read, so
// that a client finds its last request; those of other processes follow within the gathering period.
import { Fault, invalid, invalidField } from '../../../kernel/fault.ts';
import { rangeErrors } from '../../../runtime/db/paging.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { getRequestById, listRequests } from './contract.ts';
import { pageOfRequests } from './pages.ts';
import { presentDetails, presentRequest } from './present.ts';
import { readRequest } from './store.ts';

export interface RequestPorts {
  /** Writes the records of this process. */
  flushRequests(): Promise<void>;
  /** Whether the server has an operation with this id. */
  isOperation(operationId: string): boolean;
}

export const requestOperations = ({ flushRequests, isOperation }: RequestPorts) => [
  handle(listRequests, async (ctx, { query }) => {
    const { operationId, limit = 20, cursor, sortOrder: sort = 'desc' } = query;
    if (operationId !== undefined && !isOperation(operationId)) {
      throw invalidField('operationId', 'is not an operation of this API');
    }
    const errors = rangeErrors(query);
    if (errors.length) throw invalid(errors);
    await flushRequests();
    const page = { sort, limit, cursor, now: ctx.effects.now() };
    const { rows, ...rest } = await pageOfRequests(ctx.db, ctx.caller.platformId, query, page);
    return { status: 200, body: { data: rows.map(presentRequest), ...rest } };
  }),

  handle(getRequestById, async (ctx, { params }) => {
    await flushRequests();
    const found = await readRequest(ctx.db, ctx.caller.platformId, params.requestId);
    if (!found) {
      throw new Fault(
        'NOT_FOUND',
        'Request not found. Requests are kept for 30 days and belong to one platform.',
      );
    }
    return { status: 200, body: presentDetails(found) };
  }),
];
