// What a platform may send at once and in a day, as its operator has set it. The day's volume is counted in
// the ledger (ledger/allowance.ts); a platform without a daily limit pays nothing for it.
import { findCurrency } from '../../catalog/currencies.ts';
import { Fault } from '../../kernel/fault.ts';
import { readable } from '../../kernel/money.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { type Allowance, hasLeft, openAllowances, takeOf } from '../../ledger/allowance.ts';
import type { Ctx } from '../../runtime/context.ts';
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

interface Counted {
  limit: PaymentLimit;
  /** Of the platform's day. */
  allowance: Allowance;
}

function counted(platform: PlatformRow, volume: Volume, now: Time): Counted[] {
  const day = iso(now).slice(0, 10);
  return applying(platform, volume).flatMap((limit) => {
    if (limit.perDay === undefined) return [];
    const scope = limit.to === undefined ? limit.currency : `${limit.currency}:${limit.to}`;
    const of = `${platform.id}:${scope}:${day}`;
    const allowance = { of, unit: limit.currency, limit: BigInt(limit.perDay) };
    return [{ limit, allowance }];
  });
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
  await openAllowances(
    ctx,
    all.map((each) => each.allowance),
  );
  for (const each of all) {
    takeOf(ctx, each.allowance, {
      transactionId,
      name: each.limit.to,
      comesBack: true,
      amount: volume.sending,
      short: () => exceeded(each, ctx.now),
      again,
    });
  }
}

/** Whether the day has room for a payment now. Until the commit somebody else may take it. */
export async function hasVolume(ctx: Ctx, platform: PlatformRow, volume: Volume): Promise<boolean> {
  const all = counted(platform, volume, ctx.now).map((each) => each.allowance);
  await openAllowances(ctx, all);
  const left = await Promise.all(all.map((each) => hasLeft(ctx, each, volume.sending)));
  return left.every(Boolean);
}
