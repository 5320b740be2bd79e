// Mints and burns of every platform for the operator: lists, and outcomes that are recorded without the
// provider.

import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { formatUnits } from '../../../kernel/money.ts';
import { equals } from '../../../runtime/db/database.ts';
import { cursorOf } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { operationStates } from '../states.ts';
import { mintsAndBurns, type StablecoinOperationRow, stablecoins } from '../store.ts';
import { endByOperator } from './progress.ts';

/** A mint or burn by its ID. Throws STABLECOIN_OPERATION_NOT_FOUND. */
export async function operationById(
  { read }: Pick<Ctx, 'read'>,
  id: string,
): Promise<StablecoinOperationRow> {
  const row = isId(id, 'StablecoinOperation') ? await read(mintsAndBurns, id) : undefined;
  if (!row) throw new Fault('STABLECOIN_OPERATION_NOT_FOUND', 'Mint or burn not found.');
  return row;
}

async function viewOf({ db }: Runtime, row: StablecoinOperationRow) {
  const coin = await db.read(stablecoins, row.stablecoin_id);
  return {
    operationId: row.id,
    platformId: row.platform_id,
    stablecoinId: row.stablecoin_id,
    type: row.type,
    status: row.status,
    amount: row.amount.toString(),
    readable: coin ? `${formatUnits(row.amount, coin.decimals)} ${coin.symbol}` : null,
    source: row.source.type,
    rail: row.destination.rail ?? null,
    providerStatus: row.provider_status,
    failureReason: row.failure_reason,
    /** Part of a late payment that the circulating supply does not include. */
    uncounted: row.uncounted === null ? null : row.uncounted.toString(),
    submittedAt: row.submitted_at === null ? null : iso(row.submitted_at),
    expiresAt: row.expires_at === null ? null : iso(row.expires_at),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

interface ListInput {
  stablecoinId?: string | undefined;
  platformId?: string | undefined;
  status?: string | undefined;
  /** Last operation of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
  /** `nextCursor` of the previous page. Alternative to `after`. */
  cursor?: string | undefined;
  limit: number;
}

/** Mints and burns of a coin, of a platform, with a status, or all. Latest first. */
export async function searchStablecoinOperations(
  runtime: Runtime,
  { stablecoinId, platformId, status, after, cursor: position, limit }: ListInput,
) {
  const { db } = runtime;
  const filters = equals({ stablecoin_id: stablecoinId, platform_id: platformId, status });
  const cursor = after === undefined ? position : cursorOf(await operationById(db, after));
  const query = { filters, sort: 'desc', limit, cursor } as const;
  const { rows, ...rest } = await db.page(mintsAndBurns, query);
  return { data: await Promise.all(rows.map((row) => viewOf(runtime, row))), ...rest };
}

/** Outcomes of a mint or burn that an operator can record. */
export const OUTCOMES = ['completed', 'failed'] as const;

const EVENTS = { completed: 'complete', failed: 'fail' } as const;

interface EndInput {
  operationId: string;
  /** `completed`: the mint or burn was executed. `failed`: it was not executed. */
  outcome: keyof typeof EVENTS;
  reason: string;
}

/**
 * Records the outcome of a mint or burn without its provider. Throws STABLECOIN_OPERATION_NOT_FOUND and
 * CONFLICT.
 */
export async function endStablecoinOperation(
  runtime: Runtime,
  { operationId, outcome, reason }: EndInput,
) {
  const { id, platform_id } = await operationById(runtime.db, operationId);
  const caller = await callerOf(runtime.db, platform_id);
  const event = EVENTS[outcome];
  const updatedRow = await operate(runtime, caller, async (ctx) => {
    const row = await operationById(ctx, id);
    if (operationStates.targetOf(row.status, event) === undefined) {
      throw new Fault(
        'CONFLICT',
        `The mint or burn is ${row.status} and cannot be recorded as ${outcome}.`,
      );
    }
    if (event === 'complete' && row.submitted_at === null) {
      throw new Fault(
        'CONFLICT',
        'The mint or burn was not submitted to the provider. It can only be recorded as failed.',
      );
    }
    return endByOperator(ctx, row, event, reason);
  });
  return { ...(await viewOf(runtime, updatedRow)), reason };
}
