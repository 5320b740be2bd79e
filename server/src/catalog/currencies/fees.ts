// Fees for currency exchange as data, and their calculation. The fee of the service and the fee
// that a platform sets use the same formula.
import { divide } from '../../kernel/money.ts';

/** A fixed part in smallest units of the sending currency and a variable part in basis points. */
export interface FeeSchedule {
  readonly fixed: bigint;
  readonly variableBps: number;
}

export const NO_FEE: FeeSchedule = { fixed: 0n, variableBps: 0 };

/** US dollars and tokens redeemable for them: between these no fee is charged. */
const DOLLARS: ReadonlySet<string> = new Set(['USD', 'USDB', 'USDC', 'USDT']);

const SERVICE_FEES = {
  same: NO_FEE,
  dollars: { fixed: 0n, variableBps: 10 },
  exchange: { fixed: 0n, variableBps: 50 },
} as const satisfies Record<string, FeeSchedule>;

/** The fee of the service for a payment from `sending` to `receiving`. */
export function serviceFeeOf(sending: string, receiving: string): FeeSchedule {
  if (sending === receiving) return SERVICE_FEES.same;
  const dollars = DOLLARS.has(sending) && DOLLARS.has(receiving);
  return dollars ? SERVICE_FEES.dollars : SERVICE_FEES.exchange;
}

/** Fees on one amount, in smallest units of the sending currency. */
interface Fees {
  readonly fixed: bigint;
  /** The variable parts, each rounded half up. */
  readonly serviceVariable: bigint;
  readonly platformVariable: bigint;
  readonly service: bigint;
  readonly platform: bigint;
  readonly total: bigint;
}

const BPS = 10_000n;

/**
 * Fees deducted from `sendingAmount`. Variable parts apply to the amount after fixed parts, or to
 * zero; the total may exceed the amount, which the caller must reject.
 */
export function feesOn(
  sendingAmount: bigint,
  service: FeeSchedule,
  platform: FeeSchedule = NO_FEE,
): Fees {
  const fixed = service.fixed + platform.fixed;
  const base = sendingAmount > fixed ? sendingAmount - fixed : 0n;
  const part = (bps: number) => divide(base * BigInt(bps), BPS, 'halfUp');
  const [serviceVariable, platformVariable] = [
    part(service.variableBps),
    part(platform.variableBps),
  ];
  return {
    fixed,
    serviceVariable,
    platformVariable,
    service: service.fixed + serviceVariable,
    platform: platform.fixed + platformVariable,
    total: fixed + serviceVariable + platformVariable,
  };
}
