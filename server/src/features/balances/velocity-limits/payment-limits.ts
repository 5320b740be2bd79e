// Limits that the operator sets for a platform: amount per payment, amount per day, and payments of
// a customer per hour. The daily and hourly usage is counted in the ledger (velocity-limit.ts).
// Platforms without limits have no overhead.
import { formatMoney } from '../../../catalog/currencies/money-format.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type CurrencyCode, isLess, type Money, smallerOf } from '../../../kernel/money.ts';
import { velocityLimitOf } from '../../../ledger/chart.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import type { PaymentLimit, PlatformRow } from '../../tenancy/platform/index.ts';
import {
  countUsage,
  hasRemaining,
  openVelocityLimits,
  type Usage,
  usedOf,
  type VelocityLimit,
} from './velocity-limit.ts';

interface LimitedPayment {
  sending: Money;
  /** Receiving currency. */
  to: CurrencyCode;
}

interface StartedPayment extends LimitedPayment {
  /** ID of the paying customer, or null for the platform. */
  payerId: string | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const applicableLimits = (
  { limits }: PlatformRow,
  { sending, to }: LimitedPayment,
): PaymentLimit[] =>
  limits.filter((each) => each.currency === sending.currency && (each.to ?? to) === to);

const maximumOf = ({ currency }: PaymentLimit, units: number): Money => ({
  currency,
  amount: BigInt(units),
});

/** Throws TRANSACTION_SIZE_LIMIT_EXCEEDED above the limit for one payment. */
export function checkPaymentSize(platform: PlatformRow, payment: LimitedPayment): void {
  const sizes = applicableLimits(platform, payment).flatMap((limit) =>
    limit.perPayment === undefined ? [] : maximumOf(limit, limit.perPayment),
  );
  if (sizes.length === 0) return;
  const max = sizes.reduce(smallerOf);
  if (!isLess(max, payment.sending)) return;
  throw new Fault(
    'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    `The payment exceeds the maximum of ${formatMoney(max)} per payment.`,
    { max: Number(max.amount) },
  );
}

interface CountedLimit {
  limit: VelocityLimit;
  usage: Pick<Usage, 'name' | 'reversible' | 'amount' | 'insufficientFundsFault'>;
}

/** Seconds until the end of the current period. */
const remainingSeconds = (periodMs: number, now: Time) =>
  Math.ceil((periodMs - (now % periodMs)) / 1000);

function dailyLimitFault(limit: PaymentLimit, now: Time): Fault {
  const { to, perDay = 0 } = limit;
  const max = formatMoney(maximumOf(limit, perDay));
  const direction = to === undefined ? '' : ` to ${to}`;
  return new Fault(
    'DAILY_VOLUME_LIMIT_EXCEEDED',
    `The payment exceeds the daily limit (UTC) of ${max}${direction}. Retry on the next day.`,
    { max: perDay },
    { retryAfterS: remainingSeconds(DAY_MS, now) },
  );
}

function dailyLimits(platform: PlatformRow, payment: LimitedPayment, now: Time): CountedLimit[] {
  const day = iso(now).slice(0, 10);
  return applicableLimits(platform, payment).flatMap((limit) => {
    const { currency, to, perDay } = limit;
    if (perDay === undefined) return [];
    const scope = to === undefined ? currency : `${currency}:${to}`;
    const limitId = velocityLimitOf.sending(platform.id, scope, day);
    return {
      limit: { limitId, unit: currency, limit: BigInt(perDay) },
      usage: {
        name: to,
        reversible: true,
        amount: payment.sending.amount,
        insufficientFundsFault: () => dailyLimitFault(limit, now),
      },
    };
  });
}

function hourlyLimitFault(max: number, now: Time): Fault {
  const payments = max === 1 ? '1 payment' : `${max} payments`;
  return new Fault(
    'VELOCITY_LIMIT_EXCEEDED',
    `The customer has started ${payments} in this hour, which is the maximum. Retry later.`,
    { max },
    { retryAfterS: remainingSeconds(HOUR_MS, now) },
  );
}

/** Every started payment counts as one, regardless of amount and result. */
function hourlyLimits(
  { hourly_payments: max }: PlatformRow,
  { payerId }: StartedPayment,
  now: Time,
) {
  if (max === null || payerId === null) return [];
  const hour = iso(now).slice(0, 13);
  const countedLimit: CountedLimit = {
    limit: { limitId: velocityLimitOf.starts(payerId, hour), unit: 'count', limit: BigInt(max) },
    usage: {
      name: 'hour',
      reversible: false,
      amount: 1n,
      insufficientFundsFault: () => hourlyLimitFault(max, now),
    },
  };
  return [countedLimit];
}

/** The limits of a payment, with their ledger accounts opened. */
async function openLimits(ctx: Ctx, platform: PlatformRow, payment: StartedPayment) {
  const countedLimits = [
    ...hourlyLimits(platform, payment, ctx.now),
    ...dailyLimits(platform, payment, ctx.now),
  ];
  await openVelocityLimits(
    ctx,
    countedLimits.map((each) => each.limit),
  );
  return countedLimits;
}

/**
 * Counts a payment at its start. The commit fails with VELOCITY_LIMIT_EXCEEDED at the hourly limit
 * of the customer and with DAILY_VOLUME_LIMIT_EXCEEDED at the daily limit of the platform. Call
 * this function before the postings of the payment, so that these errors take precedence over
 * errors of the postings. With `retryOnInsufficientFunds` the operation runs again instead of
 * failing. That operation checks `isWithinPaymentLimits` first.
 */
export async function countPayment(
  ctx: Ctx,
  platform: PlatformRow,
  {
    transactionId,
    retryOnInsufficientFunds = false,
    ...payment
  }: StartedPayment & { transactionId: string; retryOnInsufficientFunds?: boolean },
): Promise<void> {
  for (const { limit, usage } of await openLimits(ctx, platform, payment)) {
    countUsage(ctx, limit, { transactionId, retryOnInsufficientFunds, ...usage });
  }
}

/**
 * Whether the hourly and daily limits allow the payment now. Concurrent payments can still exhaust
 * the limits.
 */
export async function isWithinPaymentLimits(
  ctx: Ctx,
  platform: PlatformRow,
  payment: StartedPayment,
): Promise<boolean> {
  const countedLimits = await openLimits(ctx, platform, payment);
  const checks = countedLimits.map(({ limit, usage }) => hasRemaining(ctx, limit, usage.amount));
  return (await Promise.all(checks)).every(Boolean);
}

/**
 * Payments that a customer has started in the current hour, and the maximum. Null without a limit.
 */
export async function hourlyUsage(
  reader: Reader,
  { hourly_payments: maximum }: PlatformRow,
  customerId: string,
  now: Time,
): Promise<{ maximum: number; used: number } | null> {
  if (maximum === null) return null;
  const hourAccount = velocityLimitOf.starts(customerId, iso(now).slice(0, 13));
  return { maximum, used: Number(await usedOf(reader, { limitId: hourAccount })) };
}
