// What a platform may send at once and in a day, and how often one of its customers may pay in an hour, as
// its operator has set it. Both are counted in the ledger (velocity-limit.ts); a platform without such
// limits pays nothing for it.
import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type CurrencyCode, isLess, lesser, type Money } from '../../../kernel/money.ts';
import { velocityLimitOf } from '../../../ledger/chart.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { PaymentLimit, PlatformRow } from '../../tenancy/platform/index.ts';
import {
  countUsage,
  hasLeft,
  openVelocityLimits,
  type Usage,
  type VelocityLimit,
} from './velocity-limit.ts';

/** A payment as limits see it. */
interface Volume {
  /** What leaves the source. */
  sending: Money;
  /** The currency that arrives. */
  to: CurrencyCode;
}

/** A payment of somebody's. */
interface PaymentVolume extends Volume {
  /** The customer who pays; null for the platform itself. */
  payerId: string | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The limits that a payment is held to. */
const applying = ({ limits }: PlatformRow, { sending, to }: Volume): PaymentLimit[] =>
  limits.filter((each) => each.currency === sending.currency && (each.to ?? to) === to);

/** The most that a limit says, in the currency that it is for. */
const mostOf = ({ currency }: PaymentLimit, units: number): Money => ({
  currency,
  amount: BigInt(units),
});

/** Throws TRANSACTION_SIZE_LIMIT_EXCEEDED for more than the operator lets through in one payment. */
export function checkPaymentSize(platform: PlatformRow, volume: Volume): void {
  const sizes = applying(platform, volume).flatMap((limit) =>
    limit.perPayment === undefined ? [] : mostOf(limit, limit.perPayment),
  );
  if (sizes.length === 0) return;
  const max = sizes.reduce(lesser);
  if (!isLess(max, volume.sending)) return;
  throw new Fault(
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    `The maximum for one payment is ${formatMoney(max)}.`,
    { max: Number(max.amount) },
  );
}

interface Counted {
  allowance: VelocityLimit;
  taking: Pick<Usage, 'name' | 'comesBack' | 'amount' | 'insufficientFundsFault'>;
}

/** Seconds until the running period of this length is over. */
const restOf = (periodMs: number, now: Time) => Math.ceil((periodMs - (now % periodMs)) / 1000);

function dayFull(limit: PaymentLimit, now: Time): Fault {
  const { to, perDay = 0 } = limit;
  const max = formatMoney(mostOf(limit, perDay));
  const way = to === undefined ? '' : ` to ${to}`;
  return new Fault(
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    `The daily limit (UTC) for payments is ${max}${way}.`,
    { max: perDay },
    { retryAfterS: restOf(DAY_MS, now) },
  );
}

function ofDay(platform: PlatformRow, volume: Volume, now: Time): Counted[] {
  const day = iso(now).slice(0, 10);
  return applying(platform, volume).flatMap((limit) => {
    const { currency, to, perDay } = limit;
    if (perDay === undefined) return [];
    const scope = to === undefined ? currency : `${currency}:${to}`;
    const of = velocityLimitOf.sending(platform.id, scope, day);
    return {
      allowance: { of, unit: currency, limit: BigInt(perDay) },
      taking: {
        name: to,
        comesBack: true,
        amount: volume.sending.amount,
        insufficientFundsFault: () => dayFull(limit, now),
      },
    };
  });
}

function hourFull(max: number, now: Time): Fault {
  return new Fault(
    'VELOCITY_LIMIT_EXCEEDED',
    `A customer can start at most ${max} payments per hour.`,
    { max },
    { retryAfterS: restOf(HOUR_MS, now) },
  );
}

/** A payment counts as one, whatever it sends and whether or not it succeeds. */
function ofHour({ hourly_payments: max }: PlatformRow, { payerId }: PaymentVolume, now: Time) {
  if (max === null || payerId === null) return [];
  const hour = iso(now).slice(0, 13);
  const counted: Counted = {
    allowance: { of: velocityLimitOf.starts(payerId, hour), unit: 'count', limit: BigInt(max) },
    taking: {
      name: 'hour',
      comesBack: false,
      amount: 1n,
      insufficientFundsFault: () => hourFull(max, now),
    },
  };
  return [counted];
}

/** What a payment is counted toward, opened. */
async function counted(ctx: Ctx, platform: PlatformRow, volume: PaymentVolume) {
  const all = [...ofHour(platform, volume, ctx.now), ...ofDay(platform, volume, ctx.now)];
  await openVelocityLimits(
    ctx,
    all.map((each) => each.allowance),
  );
  return all;
}

/**
 * Counts a payment that is being started; at the commit it is refused with VELOCITY_LIMIT_EXCEEDED when the
 * customer's hour has no room for it, with DAILY_VOLUME_LIMIT_EXCEEDED when the platform's day has none. Call
 * it before the money is moved, so that this is what is said first. With `retryOnInsufficientFunds` the operation decides once
 * more instead, having asked `hasPaymentRoom`.
 */
export async function countPayment(
  ctx: Ctx,
  platform: PlatformRow,
  {
    transactionId,
    retryOnInsufficientFunds = false,
    ...volume
  }: PaymentVolume & { transactionId: string; retryOnInsufficientFunds?: boolean },
): Promise<void> {
  for (const { allowance, taking } of await counted(ctx, platform, volume)) {
    countUsage(ctx, allowance, { transactionId, retryOnInsufficientFunds, ...taking });
  }
}

/** Whether hour and day have room for a payment now. Until the commit somebody else may take it. */
export async function hasPaymentRoom(
  ctx: Ctx,
  platform: PlatformRow,
  volume: PaymentVolume,
): Promise<boolean> {
  const all = await counted(ctx, platform, volume);
  const left = all.map(({ allowance, taking }) => hasLeft(ctx, allowance, taking.amount));
  return (await Promise.all(left)).every(Boolean);
}
