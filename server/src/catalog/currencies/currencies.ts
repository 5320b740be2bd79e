// Supported currencies with their number of decimals. For a fiat currency this is the ISO 4217
// exponent, such as 0 for VND and 3 for KWD. For a digital asset it is the exponent of the ledger
// unit. A wrong exponent changes amounts by a factor of at least ten, so this file is the only
// definition.

type CurrencyKind = 'fiat' | 'crypto';

export interface Currency {
  readonly code: string;
  readonly name: string;
  readonly symbol: string;
  /** Digits after the decimal point. One unit is `10 ** decimals` minor units. */
  readonly decimals: number;
  readonly kind: CurrencyKind;
}

const fiat = (code: string, name: string, symbol: string, decimals = 2): Currency => ({
  code,
  name,
  symbol,
  decimals,
  kind: 'fiat',
});

const crypto = (code: string, name: string, symbol: string, decimals: number): Currency => ({
  ...fiat(code, name, symbol, decimals),
  kind: 'crypto',
});

export const CURRENCIES: readonly Currency[] = [
  fiat('AED', 'UAE Dirham', 'AED'),
  fiat('ARS', 'Argentine Peso', 'AR$'),
  fiat('AUD', 'Australian Dollar', 'A$'),
  fiat('BDT', 'Bangladeshi Taka', '৳'),
  fiat('BRL', 'Brazilian Real', 'R$'),
  fiat('BWP', 'Botswana Pula', 'P'),
  fiat('CAD', 'Canadian Dollar', 'CA$'),
  fiat('CHF', 'Swiss Franc', 'CHF'),
  fiat('CNY', 'Chinese Yuan', 'CN¥'),
  fiat('COP', 'Colombian Peso', 'COL$'),
  fiat('CZK', 'Czech Koruna', 'Kč'),
  fiat('DKK', 'Danish Krone', 'kr'),
  fiat('EGP', 'Egyptian Pound', 'E£'),
  fiat('EUR', 'Euro', '€'),
  fiat('GBP', 'British Pound', '£'),
  fiat('GHS', 'Ghanaian Cedi', 'GH₵'),
  fiat('GTQ', 'Guatemalan Quetzal', 'Q'),
  fiat('HKD', 'Hong Kong Dollar', 'HK$'),
  fiat('HTG', 'Haitian Gourde', 'G'),
  fiat('HUF', 'Hungarian Forint', 'Ft'),
  fiat('IDR', 'Indonesian Rupiah', 'Rp'),
  fiat('ILS', 'Israeli New Shekel', '₪'),
  fiat('INR', 'Indian Rupee', '₹'),
  fiat('JMD', 'Jamaican Dollar', 'J$'),
  fiat('JPY', 'Japanese Yen', '¥', 0),
  fiat('KES', 'Kenyan Shilling', 'KSh'),
  fiat('KRW', 'South Korean Won', '₩', 0),
  fiat('KWD', 'Kuwaiti Dinar', 'KD', 3),
  fiat('MWK', 'Malawian Kwacha', 'MK'),
  fiat('MXN', 'Mexican Peso', 'MX$'),
  fiat('MYR', 'Malaysian Ringgit', 'RM'),
  fiat('NGN', 'Nigerian Naira', '₦'),
  fiat('NOK', 'Norwegian Krone', 'kr'),
  fiat('NZD', 'New Zealand Dollar', 'NZ$'),
  fiat('PHP', 'Philippine Peso', '₱'),
  fiat('PKR', 'Pakistani Rupee', '₨'),
  fiat('PLN', 'Polish Zloty', 'zł'),
  fiat('RON', 'Romanian Leu', 'lei'),
  fiat('RWF', 'Rwandan Franc', 'FRw', 0),
  fiat('SAR', 'Saudi Riyal', 'SAR'),
  fiat('SEK', 'Swedish Krona', 'kr'),
  fiat('SGD', 'Singapore Dollar', 'S$'),
  fiat('THB', 'Thai Baht', '฿'),
  fiat('TRY', 'Turkish Lira', '₺'),
  fiat('TZS', 'Tanzanian Shilling', 'TSh'),
  fiat('UGX', 'Ugandan Shilling', 'USh', 0),
  fiat('USD', 'United States Dollar', '$'),
  fiat('VND', 'Vietnamese Dong', '₫', 0),
  fiat('XAF', 'Central African CFA Franc', 'FCFA', 0),
  fiat('XOF', 'West African CFA Franc', 'CFA', 0),
  fiat('ZAR', 'South African Rand', 'R'),
  fiat('ZMW', 'Zambian Kwacha', 'ZK'),
  crypto('BTC', 'Bitcoin', '₿', 8),
  crypto('USDB', 'USDB', 'USDB', 6),
  crypto('USDC', 'USD Coin', 'USDC', 6),
  crypto('USDT', 'Tether USD', 'USDT', 6),
];

const BY_CODE = new Map(CURRENCIES.map((currency) => [currency.code, currency]));

/** Currency of a code. Undefined for an unknown code. */
export const findCurrency = (code: string): Currency | undefined => BY_CODE.get(code);

/** The currency of a validated code. Throws for an unknown code. */
export function currencyOf(code: string): Currency {
  const match = BY_CODE.get(code);
  if (!match) throw new RangeError(`unknown currency ${code}`);
  return match;
}

/** The currency as returned by the API: code, name, symbol and decimals. */
export function currencyView(code: string) {
  const { name, symbol, decimals } = currencyOf(code);
  return { code, name, symbol, decimals };
}

export const isFiat = (code: string): boolean => findCurrency(code)?.kind === 'fiat';
