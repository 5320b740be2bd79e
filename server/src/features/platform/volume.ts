// What a platform may send at once and in a day, as its operator has set it. The day's volume is kept in
// the ledger, in units of its own beside the money: an account for each platform, currency and day whose
// floor is the limit. So the count is as exact as a balance, whoever pays at the same moment and through
// whichever process; and a platform without a daily limit pays nothing for it.
import { findCurrency } from '../../catalog/currencies.ts';
import { Fault } from '../../kernel/fault.ts';
import { readable } from '../../kernel/money.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { ledgerAccounts } from '../../ledger/store.ts';
import { pgArray } from '../../runtime/arrays.ts';
import type { Ctx, Environment } from '../../runtime/context.ts';
import type { Database } from '../../runtime/database.ts';
import type { PaymentLimit, PlatformRow } from './store.ts';

/** A payment as limits see it. */
export interface Volume {
  from: string;
  /** The currency that arrives. */
  to: string;
  /** What leaves the source, smallest units of `from`. */
  sending: bigint;
}

const DAY_MS = 86_400_000;

const shown = (amount: bigint, currency: string) =>
  `${readable(amount, findCurrency(currency)?.decimals ?? 0)} ${currency}`;

/** The limits that a payment is held to. */
const applying = ({ limits }: PlatformRow, { from, to }: Volume): PaymentLimit[] =>
  limits.filter((each) => each.currency === from && (each.to ?? to) === to);

/** Throws TRANSACTION_SIZE_LIMIT_EXCEEDED for more than the operator lets through in one payment. */
export function checkPaymentSize(platform: PlatformRow, volume: Volume): void {
  const sizes = applying(platform, volume).flatMap(({ perPayment }) => perPayment ?? []);
  const max = Math.min(...sizes);
  if (volume.sending <= max) return;
  throw new Fault(
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    `One payment may send ${shown(BigInt(max), volume.from)} at the most.`,
    { max },
  );
}

/** The unit in which volume of a currency is counted. */
const unitOf = (currency: string) => `volume.${currency}`;

const counterOf = (environment: Environment, currency: string) =>
  `volume:${environment}:${currency}`;

interface Counted {
  limit: PaymentLimit;
  /** The ledger account of the platform's day. */
  account: string;
  floor: bigint;
}

function counted(platform: PlatformRow, volume: Volume, now: Time): Counted[] {
  const day = iso(now).slice(0, 10);
  return applying(platform, volume).flatMap((limit) => {
    if (limit.perDay === undefined) return [];
    const scope = limit.to === undefined ? limit.currency : `${limit.currency}:${limit.to}`;
    const account = `volume:${platform.id}:${scope}:${day}`;
    return [{ limit, account, floor: -BigInt(limit.perDay) }];
  });
}

// A limit that was lowered below what the day has seen already takes the rest away, and no more than that.
const OPEN = `insert into ledger_accounts (id, currency, floor, created_at)
  select id, currency, floor, $4 from unnest($1::text[], $2::text[], $3::int8[])
    as account(id, currency, floor) order by id collate "C"
  on conflict (id) do update
    set floor = least(excluded.floor, ledger_accounts.balance - ledger_accounts.held)
    where ledger_accounts.floor is distinct from excluded.floor
  returning id, floor`;

/**
 * Floors found in place, by account. They are looked at again every minute: another process may have put
 * one back that it read before the limit was changed.
 */
interface Known {
  since: number;
  floors: Map<string, bigint | null>;
}

const REMEMBER_MS = 60_000;

const knownIn = new WeakMap<Database, Known>();

function floorsOf(db: Database, now: Time): Map<string, bigint | null> {
  const since = now - (now % REMEMBER_MS);
  let known = knownIn.get(db);
  if (known?.since !== since) {
    known = { since, floors: new Map() };
    knownIn.set(db, known);
  }
  return known.floors;
}

/**
 * Opens the day's accounts, or sets their floors to limits that have changed. It is done ahead of the
 * commit and by itself, because it must be there for the movement and may be there without one.
 */
async function open(ctx: Ctx, currency: string, all: readonly Counted[]): Promise<void> {
  const floors = floorsOf(ctx.db, ctx.now);
  const counter = counterOf(ctx.caller.environment, currency);
  const wanted = [
    { id: counter, floor: null },
    ...all.map(({ account, floor }) => ({ id: account, floor })),
  ].filter(({ id, floor }) => floors.get(id) !== floor);
  if (wanted.length === 0) return;
  const changed = await ctx.db.query<{ id: string; floor: bigint }>(OPEN, [
    wanted.map((each) => each.id),
    wanted.map(() => unitOf(currency)),
    pgArray(
      'int8',
      wanted.map((each) => each.floor),
    ),
    new Date(ctx.now),
  ]);
  const lower = new Map(changed.map((each) => [each.id, each.floor]));
  for (const { id, floor } of wanted) {
    // One that could not be set as low as it should be is tried again at the next payment.
    if (floor === null || (lower.get(id) ?? floor) === floor) floors.set(id, floor);
  }
}

function exceeded({ limit }: Counted, now: Time): Fault {
  const { currency, to, perDay = 0 } = limit;
  const max = shown(BigInt(perDay), currency);
  const way = to === undefined ? '' : ` to ${to}`;
  return new Fault(
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    `The payments of one day (UTC) may send ${max}${way} at the most.`,
    { max: perDay },
    { retryAfterS: Math.ceil((DAY_MS - (now % DAY_MS)) / 1000) },
  );
}

/**
 * Counts a payment that is being started; at the commit it is refused with DAILY_VOLUME_LIMIT_EXCEEDED when
 * the day has no room for it. Call it before the money is moved, so that this is what is said first. With
 * `again` the operation decides once more instead, having asked `hasVolume`.
 */
export async function takeVolume(
  ctx: Ctx,
  platform: PlatformRow,
  { transactionId, again = false, ...volume }: Volume & { transactionId: string; again?: boolean },
): Promise<void> {
  const all = counted(platform, volume, ctx.now);
  if (all.length === 0) return;
  await open(ctx, volume.from, all);
  for (const each of all) {
    ctx.move('posted', {
      transactionId,
      step: each.limit.to === undefined ? 'volume' : `volume.${each.limit.to}`,
      debit: each.account,
      credit: counterOf(ctx.caller.environment, volume.from),
      currency: unitOf(volume.from),
      amount: volume.sending,
      short: () => exceeded(each, ctx.now),
      again,
    });
  }
}

/** Whether the day has room for a payment now. Until the commit somebody else may take it. */
export async function hasVolume(ctx: Ctx, platform: PlatformRow, volume: Volume): Promise<boolean> {
  const all = counted(platform, volume, ctx.now);
  if (all.length === 0) return true;
  await open(ctx, volume.from, all);
  const rows = await Promise.all(all.map(({ account }) => ctx.read(ledgerAccounts, account)));
  return rows.every((row) => !row || row.balance - row.held - volume.sending >= (row.floor ?? 0n));
}

const TAKEN = `select step, debit, credit, currency, amount from ledger_transfers
  where transaction_id = $1 and (step = 'volume' or step like 'volume.%')`;

/** Gives back what a payment took of its day, whenever that was: for a payment that is refunded. */
export async function giveVolumeBack(ctx: Ctx, { id }: { id: string }): Promise<void> {
  const taken = await ctx.db.query<{
    step: string;
    debit: string;
    credit: string;
    currency: string;
    amount: bigint;
  }>(TAKEN, [id]);
  for (const { step, debit, credit, currency, amount } of taken) {
    ctx.move('posted', {
      transactionId: id,
      step: `refund.${step}`,
      debit: credit,
      credit: debit,
      currency,
      amount,
    });
  }
}
