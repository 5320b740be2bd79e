// Fees of payments on chains.

import type { Rate } from '../../kernel/money.ts';

/** Network fee of one payment on a chain. */
export interface NetworkFee {
  /** In the smallest unit of the asset: lamports, wei, satoshis. */
  fee: bigint;
  asset: string;
  /** US cents for one smallest unit. Absent if the asset is a currency with rates. */
  price?: Rate | undefined;
}

export interface NetworkFeePort {
  feeOf(network: string): Promise<NetworkFee | undefined>;
}
