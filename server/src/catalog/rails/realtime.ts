// Real-time funding of quotes: currencies, rails or networks, and the validity of the quote in
// which the funds must arrive. Slow rails such as ACH are excluded. The networks of a digital asset
// are derived from its pay-in types.
import { ACCOUNT_TYPE_ROWS, isAccountType } from '../accounts/account-types.ts';
import { findCurrency } from '../currencies/currencies.ts';
import { payInTypesOf } from './payment-instructions.ts';
import type { PaymentRail } from './rails.ts';

export interface RealtimeFunding {
  readonly isCrypto: boolean;
  /**
   * Networks for a digital asset, of which the quote must specify one. Empty for fiat currencies.
   */
  readonly networks: readonly string[];
  /**
   * Pay-in types for the payer. For a digital asset, those of `network`. Empty without a network or
   * for an unsupported network.
   */
  readonly payInTypes: readonly string[];
  /** Validity of a quote in milliseconds. */
  readonly ttlMs: number;
}

const MINUTE = 60_000;

/** Validity of a quote that needs no action in a banking app. */
export const QUOTE_TTL_MS = 5 * MINUTE;
/** Validity of a quote that the payer funds from a bank account, with confirmation in an app. */
const BANK_TTL_MS = 15 * MINUTE;
/**
 * The validity is short for Lightning, which locks liquidity until settlement. A Bitcoin block
 * takes about ten minutes.
 */
const NETWORK_TTL_MS: Readonly<Record<string, number>> = {
  LIGHTNING: 2 * MINUTE,
  BITCOIN: 15 * MINUTE,
};

interface FiatFunding {
  readonly payInType: string;
  /** Real-time rails of the currency. Empty if `PAYMENT_RAILS` contains none. */
  readonly rails: readonly PaymentRail[];
}

/** Fiat currencies with rails that settle within minutes at any time. */
export const REALTIME_FIAT: Readonly<Record<string, FiatFunding>> = {
  USD: { payInType: 'USD_ACCOUNT', rails: ['RTP', 'FEDNOW'] },
  EUR: { payInType: 'EUR_ACCOUNT', rails: ['SEPA_INSTANT'] },
  GBP: { payInType: 'GBP_ACCOUNT', rails: ['FASTER_PAYMENTS'] },
  MXN: { payInType: 'MXN_ACCOUNT', rails: ['SPEI'] },
  BRL: { payInType: 'BRL_ACCOUNT', rails: ['PIX'] },
  COP: { payInType: 'COP_ACCOUNT', rails: ['BRE_B'] },
  ARS: { payInType: 'ARS_ACCOUNT', rails: [] },
  INR: { payInType: 'INR_ACCOUNT', rails: ['UPI'] },
  SGD: { payInType: 'SGD_ACCOUNT', rails: ['PAYNOW', 'FAST'] },
};

/** Networks of custom pay-in types. Other types have the network of their account type. */
const NETWORK_OF_CUSTOM_TYPE: Readonly<Record<string, string>> = {
  LIGHTNING: 'LIGHTNING',
  BITCOIN_L1: 'BITCOIN',
};

function networkOf(payInType: string): string | undefined {
  if (NETWORK_OF_CUSTOM_TYPE[payInType]) return NETWORK_OF_CUSTOM_TYPE[payInType];
  return isAccountType(payInType) ? ACCOUNT_TYPE_ROWS[payInType].network : undefined;
}

/** Undefined for a currency without real-time funding. */
export function realtimeFundingOf(currency: string, network?: string): RealtimeFunding | undefined {
  const fiat = REALTIME_FIAT[currency];
  if (fiat) {
    return { isCrypto: false, networks: [], payInTypes: [fiat.payInType], ttlMs: BANK_TTL_MS };
  }
  if (findCurrency(currency)?.kind !== 'crypto') return undefined;
  const payInTypes = payInTypesOf(currency);
  return {
    isCrypto: true,
    networks: payInTypes.flatMap((payInType) => networkOf(payInType) ?? []),
    payInTypes: payInTypes.filter(
      (payInType) => network !== undefined && networkOf(payInType) === network,
    ),
    ttlMs: NETWORK_TTL_MS[network ?? ''] ?? QUOTE_TTL_MS,
  };
}
