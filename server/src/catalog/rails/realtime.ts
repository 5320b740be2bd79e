// What can fund a payment within minutes, so that a quote can wait for the money: which currencies, over
// which rails or networks, and for how long the price is kept meanwhile. Slow ways such as ACH are left out
// on purpose. Ask `realtimeWays(currency, network?): RealtimeWays | undefined`; networks follow from the
// forms in which a digital asset is collected, so a new form opens its network by itself.
import { ACCOUNT_TYPE_ROWS, isAccountType } from '../accounts/account-types.ts';
import { findCurrency } from '../currencies/currencies.ts';
import { payInForms } from './payment-instructions.ts';
import type { PaymentRail } from './rails.ts';

export interface RealtimeWays {
  readonly isCrypto: boolean;
  /** A digital asset needs one of these named; empty for the money of states. */
  readonly networks: readonly string[];
  /** Forms a payer may choose from, of the network asked for; none when the network is not one of them. */
  readonly forms: readonly string[];
  /** For how long a price waits for the money. */
  readonly ttlMs: number;
}

const MINUTE = 60_000;

/** Validity of a quote that needs no action in a banking app. */
export const QUOTE_TTL_MS = 5 * MINUTE;
/** The payer must confirm in a banking app. */
const BANK_TTL_MS = 15 * MINUTE;
/** An invoice holds the payer's liquidity on the way, so it is short; a block takes ten minutes. */
const NETWORK_TTL_MS: Readonly<Record<string, number>> = {
  LIGHTNING: 2 * MINUTE,
  BITCOIN: 15 * MINUTE,
};

interface FiatWay {
  readonly form: string;
  /** None where the form has no field for them. */
  readonly rails: readonly PaymentRail[];
}

/** Money of states that arrives at any hour, and over what. */
export const REALTIME_FIAT: Readonly<Record<string, FiatWay>> = {
  USD: { form: 'USD_ACCOUNT', rails: ['RTP', 'FEDNOW'] },
  EUR: { form: 'EUR_ACCOUNT', rails: ['SEPA_INSTANT'] },
  GBP: { form: 'GBP_ACCOUNT', rails: ['FASTER_PAYMENTS'] },
  MXN: { form: 'MXN_ACCOUNT', rails: ['SPEI'] },
  BRL: { form: 'BRL_ACCOUNT', rails: ['PIX'] },
  COP: { form: 'COP_ACCOUNT', rails: ['BRE_B'] },
  ARS: { form: 'ARS_ACCOUNT', rails: [] },
  INR: { form: 'INR_ACCOUNT', rails: ['UPI'] },
  SGD: { form: 'SGD_ACCOUNT', rails: ['PAYNOW', 'FAST'] },
};

/** Forms that no account type stands for. */
const OWN_NETWORK: Readonly<Record<string, string>> = {
  LIGHTNING: 'LIGHTNING',
  BITCOIN_L1: 'BITCOIN',
};

function networkOf(form: string): string | undefined {
  if (OWN_NETWORK[form]) return OWN_NETWORK[form];
  return isAccountType(form) ? ACCOUNT_TYPE_ROWS[form].network : undefined;
}

/** Undefined for a currency that does not come in within minutes. */
export function realtimeWays(currency: string, network?: string): RealtimeWays | undefined {
  const fiat = REALTIME_FIAT[currency];
  if (fiat) {
    return { isCrypto: false, networks: [], forms: [fiat.form], ttlMs: BANK_TTL_MS };
  }
  if (findCurrency(currency)?.kind !== 'crypto') return undefined;
  const forms = payInForms(currency);
  return {
    isCrypto: true,
    networks: forms.flatMap((form) => networkOf(form) ?? []),
    forms: forms.filter((form) => network !== undefined && networkOf(form) === network),
    ttlMs: NETWORK_TTL_MS[network ?? ''] ?? QUOTE_TTL_MS,
  };
}
