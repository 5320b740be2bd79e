// All supported currencies with the decimals of their smallest unit: ISO 4217 exponents for fiat
// currencies (0 for VND or UGX, 3 for KWD), the ledger unit for digital assets. This is the only
// definition of them, because a wrong exponent is an error by a factor of a hundred.

type CurrencyKind = 'fiat' | 'crypto';

export interface CurrencyFact {
  readonly code: string;
  readonly name: string;
  readonly symbol: string;
  /** Decimals; 10 ** decimals smallest units are one unit. */
  readonly decimals: number;
  readonly kind: CurrencyKind;
}

const fiat = (code: string, name: string, symbol: string, decimals = 2): CurrencyFact => ({
  code,
  name,
  symbol,
  decimals,
  kind: 'fiat',
});

const crypto = (code: string, name: string, symbol: string, decimals: number): CurrencyFact => ({
  ...fiat(code, name, symbol, decimals),
  kind: 'crypto',
});

export const CURRENCIES: readonly CurrencyFact[] = [
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

/** The currency of a code, or undefined for an unknown code. */
export const findCurrency = (code: string): CurrencyFact | undefined => BY_CODE.get(code);

/** The currency of a validated code. Throws for an unknown one, which is a programming error. */
export function currencyOf(code: string): CurrencyFact {
  const found = BY_CODE.get(code);
  if (!found) throw new RangeError(`unknown currency ${code}`);
  return found;
}

/** The currency as the API shows it: code, name, symbol, decimals. */
export function currencyView(code: string) {
  const { name, symbol, decimals } = currencyOf(code);
  return { code, name, symbol, decimals };
}

export const isFiat = (code: string): boolean => findCurrency(code)?.kind === 'fiat';
