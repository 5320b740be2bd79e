// Funding of a payment within minutes, for quotes with a REALTIME_FUNDING source: currencies, rails
// or networks, and validity of the quote. Slow rails such as ACH are excluded. Networks follow from
// the forms in which a digital asset is collected.
import { ACCOUNT_TYPE_ROWS, isAccountType } from '../accounts/account-types.ts';
import { findCurrency } from '../currencies/currencies.ts';
import { payInForms } from './payment-instructions.ts';
import type { PaymentRail } from './rails.ts';

export interface RealtimeWays {
  readonly isCrypto: boolean;
  /** Networks, one of which a digital asset requires; empty for fiat currencies. */
  readonly networks: readonly string[];
  /** Forms for the requested network; empty for an unsupported network. */
  readonly forms: readonly string[];
  /** Validity of the quote while funds are awaited. */
  readonly ttlMs: number;
}

const MINUTE = 60_000;

/** Validity of a quote that needs no action in a banking app. */
export const QUOTE_TTL_MS = 5 * MINUTE;
/** The payer must confirm in a banking app. */
const BANK_TTL_MS = 15 * MINUTE;
/** An invoice reserves liquidity along its route, so it is short; a block takes ten minutes. */
const NETWORK_TTL_MS: Readonly<Record<string, number>> = {
  LIGHTNING: 2 * MINUTE,
  BITCOIN: 15 * MINUTE,
};

interface FiatWay {
  readonly form: string;
  /** Absent if the form has no field for rails. */
  readonly rails: readonly PaymentRail[];
}

/** Rails by fiat currency that settle within minutes at any hour. */
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

/** Forms without an account type. */
const OWN_NETWORK: Readonly<Record<string, string>> = {
  LIGHTNING: 'LIGHTNING',
  BITCOIN_L1: 'BITCOIN',
};

function networkOf(form: string): string | undefined {
  if (OWN_NETWORK[form]) return OWN_NETWORK[form];
  return isAccountType(form) ? ACCOUNT_TYPE_ROWS[form].network : undefined;
}

/** Undefined for a currency that does not settle within minutes. */
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
