// Fictitious UMA providers of the sandbox. Most have reserved example domains. The legal entity
// identifiers are not issued but have valid check digits. One provider is blocked, for tests of
// rejected payments.

export interface UmaProvider {
  readonly name: string;
  readonly domain: string;
  readonly logoUrl: string;
  /** Countries of residence of its customers, ISO 3166-1 alpha-2. */
  readonly regions: readonly string[];
  /** Currencies that its customers can receive. */
  readonly currencies: readonly string[];
  /** Legal entity identifier, ISO 17442. */
  readonly lei: string;
  /** Whether payments to and from the provider are allowed. */
  readonly isAllowed: boolean;
}

const splitWords = (text: string) => text.split(' ');

/** `leiSuffix` is the serial number within the fictitious identifiers, with check digits. */
function provider(
  name: string,
  domain: string,
  regions: string,
  currencies: string,
  leiSuffix: string,
  isAllowed = true,
): UmaProvider {
  return {
    name,
    domain,
    logoUrl: `https://${domain}/logo.png`,
    regions: splitWords(regions),
    currencies: splitWords(currencies),
    lei: `000000SANDBOXUMA${leiSuffix}`,
    isAllowed,
  };
}

export const UMA_PROVIDERS: readonly UmaProvider[] = [
  provider('Andenpay', 'andenpay.example', 'AR CL CO PE', 'USD COP', '0262'),
  provider('Blockvale Exchange', 'blockvale.example', 'US CA', 'USD BTC', '0359', false),
  provider('Lagoon Wallet', 'lagoon.example', 'NG GH KE', 'NGN GHS KES USD', '0456'),
  provider('Maple Ledger', 'mapleledger.example', 'CA US', 'CAD USD', '0553'),
  provider('Montera', 'montera.example', 'MX US', 'MXN USD', '0650'),
  provider('Rheintal Konto', 'rheintal.example', 'AT CH DE FR', 'EUR CHF', '0747'),
  provider('Sampaguita Cash', 'sampaguita.example', 'PH SG', 'PHP USD', '0844'),
  provider('Sandbox', 'sandbox.uma.money', 'DE MX US', 'USD EUR MXN', '0165'),
];
