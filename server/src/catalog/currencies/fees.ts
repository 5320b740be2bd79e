// Service fees of an exchange, and the calculation of fees on an amount. The platform configures
// its own fee, which is calculated by the same formula.
import { divide } from '../../kernel/money.ts';

/** Fixed fee in minor units of the sending currency, and variable fee in basis points. */
export interface FeeSchedule {
  readonly fixed: bigint;
  readonly variableBps: number;
}

export const NO_FEE: FeeSchedule = { fixed: 0n, variableBps: 0 };

/** US dollar and stablecoins that are redeemable for US dollars. */
const DOLLAR_ASSETS: ReadonlySet<string> = new Set(['USD', 'USDB', 'USDC', 'USDT']);

const SERVICE_FEES = {
  same: NO_FEE,
  dollars: { fixed: 0n, variableBps: 10 },
  exchange: { fixed: 0n, variableBps: 50 },
} as const satisfies Record<string, FeeSchedule>;

/** Service fee on a payment from one currency to another. */
export function serviceFeeOf(sendingCurrency: string, receivingCurrency: string): FeeSchedule {
  if (sendingCurrency === receivingCurrency) return SERVICE_FEES.same;
  const isDollarPair = DOLLAR_ASSETS.has(sendingCurrency) && DOLLAR_ASSETS.has(receivingCurrency);
  return isDollarPair ? SERVICE_FEES.dollars : SERVICE_FEES.exchange;
}

/** Fees on one amount, in minor units of the sending currency. */
interface Fees {
  readonly fixed: bigint;
  /** Variable fees, each rounded half up. */
  readonly serviceVariable: bigint;
  readonly platformVariable: bigint;
  readonly service: bigint;
  readonly platform: bigint;
  readonly total: bigint;
}

const BPS = 10_000n;

/**
 * Fees that are deducted from `sendingAmount`. The base of the variable fees is the amount less the
 * fixed fees, and at least zero. The total can exceed the amount. The caller must reject this case.
 */
export function calculateFees(
  sendingAmount: bigint,
  service: FeeSchedule,
  platform: FeeSchedule = NO_FEE,
): Fees {
  const fixedFees = service.fixed + platform.fixed;
  const base = sendingAmount > fixedFees ? sendingAmount - fixedFees : 0n;
  const percentage = (bps: number) => divide(base * BigInt(bps), BPS, 'halfUp');
  const [serviceVariable, platformVariable] = [
    percentage(service.variableBps),
    percentage(platform.variableBps),
  ];
  return {
    fixed: fixedFees,
    serviceVariable,
    platformVariable,
    service: service.fixed + serviceVariable,
    platform: platform.fixed + platformVariable,
    total: fixedFees + serviceVariable + platformVariable,
  };
}
