// What the service charges for an exchange, as data, and how fees come out of an amount. The platform's
// own fee is set by the platform and priced by the same formula, so it stands here beside it.
import { divide } from '../../kernel/money.ts';

/** A fixed part in smallest units of the sending currency and a part in hundredths of a percent. */
export interface FeeSchedule {
  readonly fixed: bigint;
  readonly variableBps: number;
}

export const NO_FEE: FeeSchedule = { fixed: 0n, variableBps: 0 };

/** Dollars and what is redeemed for a dollar: nothing is exchanged between them but the form. */
const DOLLARS: ReadonlySet<string> = new Set(['USD', 'USDB', 'USDC', 'USDT']);

const SERVICE_FEES = {
  same: NO_FEE,
  dollars: { fixed: 0n, variableBps: 10 },
  exchange: { fixed: 0n, variableBps: 50 },
} as const satisfies Record<string, FeeSchedule>;

/** The service's fee on money that leaves as `sending` and arrives as `receiving`. */
export function serviceFeeOf(sending: string, receiving: string): FeeSchedule {
  if (sending === receiving) return SERVICE_FEES.same;
  const dollars = DOLLARS.has(sending) && DOLLARS.has(receiving);
  return dollars ? SERVICE_FEES.dollars : SERVICE_FEES.exchange;
}

/** Fees on one amount, in smallest units of the sending currency. */
interface Fees {
  readonly fixed: bigint;
  /** The variable parts, each rounded half up by itself. */
  readonly serviceVariable: bigint;
  readonly platformVariable: bigint;
  readonly service: bigint;
  readonly platform: bigint;
  readonly total: bigint;
}

const BPS = 10_000n;

/**
 * Fees that come out of `sendingAmount`. The variable parts are taken of what the fixed parts leave, and
 * of nothing when they leave nothing; the total may exceed the amount, which the caller has to refuse.
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
