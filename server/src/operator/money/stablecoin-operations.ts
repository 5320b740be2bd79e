// `stablecoins operations|end`: the mints and burns of platforms, for whoever has to find out why one does
// not go on. One that was handed over waits for its provider as long as it takes, so those that wait are
// worth a look; where the provider never comes back, a person who has found out what became of one says so.

import {
  endByHand,
  mintsAndBurns,
  OPERATION_STATUSES,
  type StablecoinOperationRow,
  stablecoinFeature,
  stablecoins,
} from '../../features/stablecoins/index.ts';
import { callerOf } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import { equals, type Filter } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import { operate } from '../../runtime/operation/operate.ts';
import type { Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

async function operationIn({ runtime }: System, id: string): Promise<StablecoinOperationRow> {
  const known = isId(id, 'StablecoinOperation');
  const row = known ? await runtime.db.read(mintsAndBurns, id) : undefined;
  if (!row) throw notFound('mint or burn');
  return row;
}

async function filtersIn(system: System, given: Given): Promise<Filter<typeof mintsAndBurns>[]> {
  const platform = given.text('platform');
  return equals({
    stablecoin_id: given.text('coin'),
    platform_id: platform && (await platformOf(system, platform)).id,
    status: given.text('status'),
  });
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
    /** Of one that was paid late: what circulates does not tell of this much. */
    uncounted: row.uncounted === null ? null : row.uncounted.toString(),
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
      each.failureReason ?? (each.uncounted === null ? '-' : `${each.uncounted} not counted`),
    ]),
  );
  return { json, text };
}

const EVENTS = { completed: 'complete', failed: 'fail' } as const;
const isEnd = (text: string): text is keyof typeof EVENTS => text in EVENTS;

async function end(system: System, given: Given): Promise<Output> {
  const { id, platform_id } = await operationIn(system, given.needed('operation'));
  const [as, reason] = [given.needed('as'), given.needed('reason')];
  const caller = await callerOf(system.runtime.db, platform_id);
  const ended = await operate(system.runtime, caller, async (ctx) => {
    const row = await ctx.read(mintsAndBurns, id);
    const event = isEnd(as) ? EVENTS[as] : undefined;
    if (!row || !event) throw notFound('mint or burn');
    if (stablecoinFeature.states.operation.peek(row.status, event) === undefined) {
      throw refused(`The mint or burn is ${row.status}.`);
    }
    if (event === 'complete' && row.submitted_at === null) {
      throw refused('It was never handed to the provider.');
    }
    return endByHand(ctx, row, event, reason);
  });
  const json = { ...(await lineOf(system, ended)), reason };
  return { json, text: `${id} is ${ended.status}.\n` };
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
  {
    noun: 'stablecoins',
    verb: 'end',
    summary: 'End a mint or burn whose provider does not come back, as you found it',
    flags: {
      operation: { value: 'OPERATION', required: true, help: 'Id of the mint or burn' },
      as: {
        value: 'OUTCOME',
        required: true,
        choices: Object.keys(EVENTS),
        help: 'Whether tokens and money have moved',
      },
      reason: { value: 'TEXT', required: true, help: 'How you know, for those who look later' },
    },
    bare: 'operation',
    run: end,
  },
];
