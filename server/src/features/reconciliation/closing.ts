// Days of providers and their closing, and the comparison of reported balances with the ledger. A day is
// balanced if its statement is consistent, the ledger account of the provider has the closing balance, and
// no difference is open. Only balanced days can be closed.

import { formatAmount } from '../../catalog/currencies/money-format.ts';
import { iso } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { systemAccount } from '../../ledger/chart.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { readLedgerAccount } from '../balances/ledger-accounts/index.ts';
import { prefunding, providerModes } from '../providers/index.ts';
import { INSTALLATION } from '../tenancy/platform/index.ts';
import { daysOf } from './apply.ts';
import { accountOfProvider } from './postings.ts';
import { balanceGap } from './reconcile.ts';
import { timeOrNull } from './sources.ts';
import { type DayKey, type DayRow, dayIdOf, keyOfDay, providerDays, SQL } from './store.ts';

const amountOf = (value: bigint | null) => (value === null ? null : Number(value));

/** Effect of a day on the account of the provider. */
const netOf = (day: DayRow) => day.opening_posted + day.line_net + day.adjusted_net;

/** Balance at the provider at the end of a day, according to the ledger. */
const bookedBalanceOf = (day: DayRow, days: readonly DayRow[]): bigint =>
  days.filter((each) => each.id <= day.id).reduce((sum, each) => sum + netOf(each), 0n);

const notFound = () =>
  new Fault('NOT_FOUND', 'The provider has no statement of this day and currency.');

async function countOpenDifferences(db: Ctx['db'], { id }: DayRow): Promise<number> {
  const [row] = await db.query<{ count: number }>(SQL.openOfDay, [id]);
  return row?.count ?? 0;
}

async function presentDay(runtime: Pick<Runtime, 'db'>, day: DayRow, days: readonly DayRow[]) {
  const openDifferences = await countOpenDifferences(runtime.db, day);
  const gap = balanceGap(day, days);
  return {
    providerId: day.provider_id,
    environment: day.environment,
    currency: day.currency,
    day: day.day,
    status: day.status,
    statementId: day.statement_id,
    statementVersion: day.statement_version,
    openingBalance: amountOf(day.opening_balance),
    closingBalance: amountOf(day.closing_balance),
    bookedBalance: Number(bookedBalanceOf(day, days)),
    openDifferences,
    ties:
      day.statement_id !== null &&
      day.reconciled_at !== null &&
      openDifferences === 0 &&
      gap === 0n &&
      bookedBalanceOf(day, days) === day.closing_balance,
    reconciledAt: timeOrNull(day.reconciled_at),
    closedAt: timeOrNull(day.closed_at),
    closedBy: day.closed_by,
  };
}

/** Throws NOT_FOUND. */
async function readDay(runtime: Pick<Runtime, 'db'>, key: DayKey) {
  const day = await runtime.db.read(providerDays, dayIdOf(key));
  if (!day) throw notFound();
  return presentDay(runtime, day, await daysOf(runtime, key));
}

interface DayQuery {
  providerId?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** A page of days, newest first. */
export async function pageOfDays(runtime: Runtime, { providerId, limit, cursor }: DayQuery) {
  const filters =
    providerId === undefined
      ? []
      : [{ column: 'provider_id', op: '=' as const, value: providerId }];
  const page = await runtime.db.page(providerDays, { filters, sort: 'desc', limit, cursor });
  const { rows, ...rest } = page;
  const data = [];
  for (const each of rows) {
    data.push(await presentDay(runtime, each, await daysOf(runtime, keyOfDay(each))));
  }
  return { data, ...rest };
}

const conflict = (message: string) => new Fault('CONFLICT', message);

/**
 * Closes a balanced day. Throws NOT_FOUND, and CONFLICT if the day is not balanced, is already closed, or
 * follows an open day.
 */
export async function closeDay(runtime: Runtime, key: DayKey, closedBy: string) {
  await operate(runtime, INSTALLATION, async (ctx) => {
    const day = await ctx.read(providerDays, dayIdOf(key));
    if (!day) throw notFound();
    if (day.status === 'CLOSED') throw conflict('The day is already closed.');
    const days = await daysOf(ctx, key);
    const earlierDay = days.find((each) => each.id < day.id && each.status === 'OPEN');
    if (earlierDay) throw conflict(`An earlier day is open. Close ${earlierDay.day} first.`);
    const { ties: isBalanced, openDifferences, bookedBalance } = await presentDay(ctx, day, days);
    if (openDifferences > 0) {
      throw conflict(`The day has open differences: ${openDifferences}. Decide them first.`);
    }
    const laterDays = days.filter((each) => each.id > day.id);
    const account = await readLedgerAccount(ctx, accountOfProvider(day));
    const laterNet = laterDays.reduce((sum, each) => sum + netOf(each), 0n);
    const isBooked = -(account?.balance ?? 0n) - laterNet === day.closing_balance;
    if (!isBalanced || !isBooked) {
      const textOf = (amount: bigint) => formatAmount({ currency: day.currency, amount });
      const closing = day.closing_balance === null ? 'unknown' : textOf(day.closing_balance);
      throw conflict(
        `The day is not balanced. Its closing balance is ${closing}, and the balance of the ` +
          `ledger is ${textOf(BigInt(bookedBalance))}. Reconcile the day again.`,
      );
    }
    ctx.update(providerDays, day, {
      ...{ status: 'CLOSED', closed_at: ctx.now, closed_by: closedBy, updated_at: ctx.now },
    });
  });
  return readDay(runtime, key);
}

const LATEST_DAYS = `select distinct on (provider_id, currency) * from provider_days
  where closing_balance is not null and ($1::text is null or provider_id = $1)
  order by provider_id, currency, day desc`;

/** Returns the balance that each provider reported last, and the balances of the ledger. */
export async function balancesOfProviders(runtime: Pick<Runtime, 'db'>, providerId?: string) {
  const { db } = runtime;
  const rows = await db.query<DayRow>(LATEST_DAYS, [providerId ?? null]);
  const availableAt = await prefunding.available(db);
  const providerIds = new Set((await providerModes(db)).map(({ providerId: id }) => id));
  const balanceAt = async (id: string) => Number((await readLedgerAccount(db, id))?.balance ?? 0n);
  return Promise.all(
    rows
      .filter((each) => providerIds.has(each.provider_id))
      .map(async (day) => {
        const balanceOf = (purpose: 'rail_in_transit' | 'external_settlement' | 'suspense') =>
          balanceAt(systemAccount(day.environment, purpose, day.currency));
        return {
          providerId: day.provider_id,
          environment: day.environment,
          currency: day.currency,
          day: day.day,
          reportedBalance: Number(day.closing_balance),
          availableBalance: amountOf(availableAt(day.provider_id, day.currency)),
          bookedBalance: -(await balanceAt(accountOfProvider(day))) || 0,
          railInTransit: await balanceOf('rail_in_transit'),
          externalSettlement: await balanceOf('external_settlement'),
          suspense: await balanceOf('suspense'),
          reportedAt: iso(day.updated_at),
        };
      }),
  );
}
