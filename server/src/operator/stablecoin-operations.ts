// `stablecoins operations`: the mints and burns of platforms, for whoever has to find out why one does not
// go on. One that was handed over waits for its provider as long as it takes, so those that wait are worth
// a look.
import {
  mintsAndBurns,
  OPERATION_STATUSES,
  type StablecoinOperationRow,
  stablecoins,
} from '../features/stablecoins/index.ts';
import { isId } from '../kernel/id.ts';
import { readable } from '../kernel/money.ts';
import { iso } from '../kernel/world.ts';
import type { Filter } from '../runtime/database.ts';
import { cursorOf } from '../runtime/paging.ts';
import type { Given } from './flags.ts';
import { platformOf } from './platform.ts';
import { LIMIT, limitIn } from './queue.ts';
import { table } from './table.ts';
import { notFound, type Output, type System, type Verb } from './verb.ts';

async function operationIn({ runtime }: System, id: string): Promise<StablecoinOperationRow> {
  const known = isId(id, 'StablecoinOperation');
  const row = known ? await runtime.db.read(mintsAndBurns, id) : undefined;
  if (!row) throw notFound('mint or burn');
  return row;
}

async function filtersIn(system: System, given: Given): Promise<Filter<typeof mintsAndBurns>[]> {
  const filters: Filter<typeof mintsAndBurns>[] = [];
  const add = (column: 'stablecoin_id' | 'platform_id' | 'status', value: string | undefined) => {
    if (value !== undefined) filters.push({ column, op: '=', value });
  };
  const platform = given.text('platform');
  add('stablecoin_id', given.text('coin'));
  add('platform_id', platform && (await platformOf(system, platform)).id);
  add('status', given.text('status'));
  return filters;
}

async function lineOf({ runtime }: System, row: StablecoinOperationRow) {
  const coin = await runtime.db.read(stablecoins, row.stablecoin_id);
  return {
    operationId: row.id,
    platformId: row.platform_id,
    stablecoinId: row.stablecoin_id,
    type: row.type,
    status: row.status,
    amount: row.amount.toString(),
    readable: coin ? `${readable(row.amount, coin.decimals)} ${coin.symbol}` : null,
    source: row.source.type,
    rail: row.destination.rail ?? null,
    providerStatus: row.provider_status,
    failureReason: row.failure_reason,
    submittedAt: row.submitted_at === null ? null : iso(row.submitted_at),
    expiresAt: row.expires_at === null ? null : iso(row.expires_at),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}

const HEADS = ['CREATED', 'OPERATION', 'TYPE', 'AMOUNT', 'STATUS', 'AT THE PROVIDER', 'WHY'];

async function list(system: System, given: Given): Promise<Output> {
  const filters = await filtersIn(system, given);
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await operationIn(system, after));
  const choice = { filters, sort: 'desc', limit: limitIn(given), cursor } as const;
  const { rows } = await system.runtime.db.page(mintsAndBurns, choice);
  const json = await Promise.all(rows.map((row) => lineOf(system, row)));
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.createdAt,
      each.operationId,
      each.type,
      each.readable ?? each.amount,
      each.status,
      each.providerStatus ?? '-',
      each.failureReason ?? '-',
    ]),
  );
  return { json, text };
}

export const stablecoinOperationVerbs: readonly Verb[] = [
  {
    noun: 'stablecoins',
    verb: 'operations',
    summary: 'List mints and burns, latest first',
    flags: {
      coin: { value: 'STABLECOIN', help: 'Of one stablecoin (all)' },
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      status: { value: 'STATUS', choices: OPERATION_STATUSES, help: 'Only those in this state' },
      ...LIMIT,
      after: { value: 'OPERATION', help: 'Go on behind this one, the last of a list before' },
    },
    bare: 'coin',
    run: list,
  },
];
