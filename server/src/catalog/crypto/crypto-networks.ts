// Blockchain networks for payouts: assets, address formats and typical network fees. Fees are fixed like the
// reference rates, so that sandbox estimates are reproducible; in production the connector estimates them.
import type { Rate } from '../../kernel/money.ts';
import { oneOf } from '../../kernel/schema.ts';
import {
  type AddressKind,
  isAddress,
  isBolt11,
  isBolt12,
  isLightningAddress,
  looksLikeAddress,
  looksLikeBolt11,
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

export interface NetworkFact {
  /** Supported currencies on it. */
  readonly currencies: readonly string[];
  /** Asset of its fee. */
  readonly feeAsset: string;
  /** Fee of one payment, in the smallest unit of the asset: lamports, wei, satoshis. */
  readonly fee: bigint;
  /** Cents for one smallest unit of the asset; absent if the asset is a currency with rates. */
  readonly price?: Rate;
  /** Whether a text is a valid address; `exact` also verifies its checksum. */
  readonly isAddress: (text: string, exact: boolean) => boolean;
}

const ofKind = (kind: AddressKind) => (text: string, exact: boolean) =>
  exact ? isAddress(kind, text) : looksLikeAddress(kind, text);

const isLightning = (text: string, exact: boolean) =>
  isBolt12(text) || isLightningAddress(text) || (exact ? isBolt11(text) : looksLikeBolt11(text));

/** An asset with these decimals and this price in cents. */
const price = (cents: bigint, decimals: number): Rate => ({
  num: cents,
  den: 10n ** BigInt(decimals),
});

const ETH = { feeAsset: 'ETH', price: price(3_500_00n, 18) };

export const NETWORKS: Readonly<Record<WithdrawalNetwork, NetworkFact>> = {
  SOLANA: {
    currencies: ['USDC', 'USDT'],
    feeAsset: 'SOL',
    fee: 5_000n,
    price: price(150_00n, 9),
    isAddress: ofKind('solana'),
  },
  ETHEREUM: {
    currencies: ['USDC', 'USDT'],
    ...ETH,
    fee: 325_000_000_000_000n,
    isAddress: ofKind('evm'),
  },
  BASE: {
    currencies: ['USDC'],
    ...ETH,
    fee: 650_000_000_000n,
    isAddress: ofKind('evm'),
  },
  POLYGON: {
    currencies: ['USDC'],
    feeAsset: 'POL',
    fee: 1_950_000_000_000_000n,
    price: price(25n, 18),
    isAddress: ofKind('evm'),
  },
  SPARK: {
    currencies: ['BTC', 'USDB'],
    feeAsset: 'BTC',
    fee: 0n,
    isAddress: ofKind('spark'),
  },
  LIGHTNING: {
    currencies: ['BTC'],
    feeAsset: 'BTC',
    fee: 10n,
    isAddress: isLightning,
  },
  BITCOIN: {
    currencies: ['BTC'],
    feeAsset: 'BTC',
    fee: 705n,
    isAddress: ofKind('bitcoin'),
  },
  TRON: {
    currencies: ['USDT'],
    feeAsset: 'TRX',
    fee: 13_500_000n,
    price: price(30n, 6),
    isAddress: ofKind('tron'),
  },
  PLASMA: {
    currencies: ['USDT'],
    feeAsset: 'XPL',
    fee: 65_000_000_000_000n,
    price: price(50n, 18),
    isAddress: ofKind('evm'),
  },
};

/** The networks of a currency, in the order of the enumeration. */
export const networksTo = (currency: string): WithdrawalNetwork[] =>
  WITHDRAWAL_NETWORKS.filter((network) => NETWORKS[network].currencies.includes(currency));

export const isWithdrawalNetwork = (text: string): text is WithdrawalNetwork =>
  Object.hasOwn(NETWORKS, text);
