// Networks for withdrawals of digital assets: assets, address formats and typical network fees.
// Fees are fixed like the reference rates, so sandbox estimates are reproducible. In production, a
// connector can provide estimates.
import type { Rate } from '../../kernel/money.ts';
import { oneOf } from '../../kernel/schema.ts';
import {
  type AddressKind,
  hasAddressFormat,
  hasBolt11Format,
  isAddress,
  isBolt11,
  isBolt12,
  isLightningAddress,
} from './addresses.ts';

export const WITHDRAWAL_NETWORKS = [
  'SOLANA',
  'ETHEREUM',
  'BASE',
  'POLYGON',
  'SPARK',
  'LIGHTNING',
  'BITCOIN',
  'TRON',
  'PLASMA',
] as const;

export type WithdrawalNetwork = (typeof WITHDRAWAL_NETWORKS)[number];

export const WithdrawalNetwork = oneOf(WITHDRAWAL_NETWORKS, {
  description: 'Network for the withdrawal.',
});

export interface CryptoNetwork {
  /** Digital assets that can be sent on the network. */
  readonly currencies: readonly string[];
  /** Asset in which the network fee is paid. */
  readonly feeAsset: string;
  /** Network fee of one payment, in the smallest unit of `feeAsset`: lamports, wei, satoshis. */
  readonly fee: bigint;
  /**
   * US cents for one smallest unit of `feeAsset`. Absent if the asset is a supported currency,
   * which has a reference rate.
   */
  readonly price?: Rate;
  /**
   * Whether a string is an address of the network. `withChecksum` also requires a valid checksum
   * and the main network.
   */
  readonly isAddress: (text: string, withChecksum: boolean) => boolean;
}

const addressCheck = (kind: AddressKind) => (text: string, withChecksum: boolean) =>
  withChecksum ? isAddress(kind, text) : hasAddressFormat(kind, text);

const isLightningDestination = (text: string, withChecksum: boolean) =>
  isBolt12(text) ||
  isLightningAddress(text) ||
  (withChecksum ? isBolt11(text) : hasBolt11Format(text));

/** Price of the smallest unit, from the price of a whole unit in US cents. */
const priceOf = (cents: bigint, decimals: number): Rate => ({
  num: cents,
  den: 10n ** BigInt(decimals),
});

const ETH = { feeAsset: 'ETH', price: priceOf(3_500_00n, 18) };

export const NETWORKS: Readonly<Record<WithdrawalNetwork, CryptoNetwork>> = {
  SOLANA: {
    currencies: ['USDC', 'USDT'],
    feeAsset: 'SOL',
    fee: 5_000n,
    price: priceOf(150_00n, 9),
    isAddress: addressCheck('solana'),
  },
  ETHEREUM: {
    currencies: ['USDC', 'USDT'],
    ...ETH,
    fee: 325_000_000_000_000n,
    isAddress: addressCheck('evm'),
  },
  BASE: {
    currencies: ['USDC'],
    ...ETH,
    fee: 650_000_000_000n,
    isAddress: addressCheck('evm'),
  },
  POLYGON: {
    currencies: ['USDC'],
    feeAsset: 'POL',
    fee: 1_950_000_000_000_000n,
    price: priceOf(25n, 18),
    isAddress: addressCheck('evm'),
  },
  SPARK: {
    currencies: ['BTC', 'USDB'],
    feeAsset: 'BTC',
    fee: 0n,
    isAddress: addressCheck('spark'),
  },
  LIGHTNING: {
    currencies: ['BTC'],
    feeAsset: 'BTC',
    fee: 10n,
    isAddress: isLightningDestination,
  },
  BITCOIN: {
    currencies: ['BTC'],
    feeAsset: 'BTC',
    fee: 705n,
    isAddress: addressCheck('bitcoin'),
  },
  TRON: {
    currencies: ['USDT'],
    feeAsset: 'TRX',
    fee: 13_500_000n,
    price: priceOf(30n, 6),
    isAddress: addressCheck('tron'),
  },
  PLASMA: {
    currencies: ['USDT'],
    feeAsset: 'XPL',
    fee: 65_000_000_000_000n,
    price: priceOf(50n, 18),
    isAddress: addressCheck('evm'),
  },
};

/** Networks that support withdrawals of a currency, in the order of `WITHDRAWAL_NETWORKS`. */
export const networksFor = (currency: string): WithdrawalNetwork[] =>
  WITHDRAWAL_NETWORKS.filter((network) => NETWORKS[network].currencies.includes(currency));

export const isWithdrawalNetwork = (text: string): text is WithdrawalNetwork =>
  Object.hasOwn(NETWORKS, text);
