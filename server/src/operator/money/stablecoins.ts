// `stablecoins list|history|approve|refuse|disable`: which tokens of platforms the service may use in
// accounts and payments of its own. A platform asks, the operator decides; every decision is kept with its
// reason.

import { movesOf } from '../../features/balances/internal-accounts/index.ts';
import { readLedgerAccount } from '../../features/balances/ledger-accounts/index.ts';
import {
  circulatingOf,
  decideService,
  isLiving,
  mintsAndBurns,
  presentCoin,
  SERVICE_STATUSES,
  type ServiceEvent,
  type StablecoinRow,
  stablecoinFeature,
  stablecoins,
  writeDown,
} from '../../features/stablecoins/index.ts';
import { callerOf } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { readable } from '../../kernel/money.ts';
import { equals } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';
import { shownMoves } from './accounts.ts';

async function coinOf({ runtime }: System, id: string): Promise<StablecoinRow> {
  const row = isId(id, 'Stablecoin') ? await runtime.db.read(stablecoins, id) : undefined;
  if (!row) throw notFound('stablecoin');
  return row;
}

const viewOf = async ({ runtime }: System, row: StablecoinRow) => ({
  ...(await presentCoin({ read: runtime.db.read }, row)),
  platformId: row.platform_id,
  /** Smallest units, as our books have it. */
  circulating: String((await readLedgerAccount(runtime.db, circulatingOf(row.id)))?.balance ?? 0n),
});

const CIRCULATING = 'CIRCULATING';
const HEADS = [
  ...['CREATED', 'STABLECOIN', 'PLATFORM', 'SYMBOL', CIRCULATING, 'ISSUANCE', 'SERVICE'],
];

async function list(system: System, given: Given): Promise<Output> {
  const platform = given.text('platform');
  const filters = equals({
    platform_id: platform === undefined ? undefined : (await platformOf(system, platform)).id,
    service_status: given.text('status'),
  });
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await coinOf(system, after));
  const query = { filters, sort: 'asc', limit: limitIn(given), cursor } as const;
  const { rows } = await system.runtime.db.page(stablecoins, query);
  const json = await Promise.all(rows.map((row) => viewOf(system, row)));
  const text = table(
    HEADS.map((head) => ({ head, align: head === CIRCULATING ? 'right' : 'left' })),
    json.map((each) => [
      each.createdAt,
      each.id,
      each.platformId,
      each.symbol,
      readable(BigInt(each.circulating), each.decimals),
      each.issuanceStatus,
      each.serviceOperationsStatus,
    ]),
  );
  return { json, text };
}

/** Stages the decision and keeps it with its reason; says so where the state of the token forbids it. */
function decide(ctx: Ctx, row: StablecoinRow, event: ServiceEvent, reason: string | null) {
  if (stablecoinFeature.states.service.peek(row.service_status, event) === undefined) {
    throw refused(`The stablecoin is ${row.service_status}.`);
  }
  // Nobody would ever enable it: that waits until the token is provisioned.
  if (event === 'approve' && !isLiving(row.issuance_status)) {
    throw refused(`The token is ${row.issuance_status} at its provider.`);
  }
  writeDown(ctx, row, { actor: 'operator', move: event, reason });
  return decideService(ctx, row, event);
}

async function move(system: System, given: Given, event: ServiceEvent): Promise<Output> {
  const { id, platform_id } = await coinOf(system, given.needed('stablecoin'));
  const reason = given.text('reason') ?? null;
  const caller = await callerOf(system.runtime.db, platform_id);
  const moved = await operate(system.runtime, caller, async (ctx) => {
    const row = await ctx.read(stablecoins, id);
    if (!row) throw notFound('stablecoin');
    return decide(ctx, row, event, reason);
  });
  const text = record([
    ['Stablecoin', id],
    ['Symbol', moved.symbol],
    ['Service', moved.service_status],
    ['Reason', reason ?? 'none given'],
  ]);
  return { json: { ...(await viewOf(system, moved)), reason }, text };
}

/** Of a token, or of one of its mints and burns. */
async function history(system: System, given: Given): Promise<Output> {
  const id = given.needed('stablecoin');
  const isOrder = isId(id, 'StablecoinOperation');
  const row = isOrder ? await system.runtime.db.read(mintsAndBurns, id) : await coinOf(system, id);
  if (!row) throw notFound('mint or burn');
  return shownMoves(await movesOf(system.runtime, row.id));
}

const COIN: Flags = {
  stablecoin: { value: 'STABLECOIN', required: true, help: 'Id of the stablecoin' },
};

const mover = (event: 'approve' | 'refuse' | 'disable', summary: string): Verb => ({
  noun: 'stablecoins',
  verb: event,
  summary,
  flags: { ...COIN, reason: { value: 'TEXT', help: 'Why, for those who look later' } },
  bare: 'stablecoin',
  run: (system, given) => move(system, given, event),
});

export const stablecoinVerbs: readonly Verb[] = [
  {
    noun: 'stablecoins',
    verb: 'list',
    summary: 'List stablecoins, oldest first; those that wait for you are PENDING_APPROVAL',
    flags: {
      platform: { value: 'PLATFORM', help: 'Only those of this platform' },
      status: {
        value: 'STATUS',
        choices: SERVICE_STATUSES,
        help: 'Only those with this serviceOperationsStatus',
      },
      ...LIMIT,
      after: { value: 'STABLECOIN', help: 'Go on behind this one, the last of a list before' },
    },
    bare: 'platform',
    run: list,
  },
  {
    noun: 'stablecoins',
    verb: 'history',
    summary: 'Show what was decided about a stablecoin, or a mint or burn, and why',
    flags: {
      stablecoin: { value: 'ID', required: true, help: 'Id of the stablecoin, mint or burn' },
    },
    bare: 'stablecoin',
    run: history,
  },
  mover('approve', 'Let the service use a stablecoin, once it is provisioned (ENABLING)'),
  mover('refuse', 'Refuse what a platform asked for; it may ask again (NOT_ENABLED)'),
  mover('disable', 'Take a stablecoin out of the service (DISABLED)'),
];
