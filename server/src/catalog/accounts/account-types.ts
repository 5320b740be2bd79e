// External account types, one row each: the fields of the details, the payment paths (a type can
// have two, such as bank account and mobile wallet), the rails, and the rules. Schemas, validation,
// funding instructions and forms are derived from these rows; no other code names the account type
// of a currency.
import { Type } from '@sinclair/typebox';
import { oneOf } from '../../kernel/schema.ts';
import { chineseRule, pixRule, swiftRule } from './account-rules.ts';
import {
  type AccountTypeRow,
  bank,
  bankOrMobile,
  by,
  type Extras,
  type Fields,
  lightningRow,
  mobile,
  wallet,
} from './account-type-row.ts';
import {
  accountNumber,
  aside,
  bankAccountType,
  bankName,
  bic,
  brazilianTaxId,
  choice,
  clabe,
  code,
  country,
  iban,
  ifsc,
  name140,
  note210,
  opt,
  pakistaniIban,
  phone,
  pixKey,
  pixKeyType,
  provider,
  routingNumber,
  vpa,
} from './fields.ts';

const number = accountNumber();
/** Bank name, account number and BIC, as in much of Asia. */
const byBic = { bankName, accountNumber: number, swiftCode: bic };
const optNumber = opt(number);
const optBic = opt(bic);
const needs = (...required: string[]): Extras => ({ individual: { required } });

const usd: Fields = {
  accountNumber: number,
  routingNumber,
  bankName: opt(name140('Name of the bank.')),
  bankAccountType: opt(bankAccountType),
  intermediaryBankName: opt(name140('Name of the intermediary bank. Used only for wires.')),
  intermediaryRoutingNumber: opt(aside(routingNumber)),
  fiToFiInformation: opt(note210('FI-to-FI information. Used only for wires.')),
};

const inr: AccountTypeRow = {
  kind: 'bank',
  currencies: ['INR'],
  country: 'IN',
  rails: ['UPI', 'NEFT', 'RTGS'],
  fields: {
    vpa: opt(vpa),
    accountNumber: opt(accountNumber(9, 18)),
    ifsc: opt(ifsc),
    rail: opt(
      choice('Rail for payments to the bank account. Required with `accountNumber`.', [
        'NEFT',
        'RTGS',
      ]),
    ),
    bankName: opt(bankName),
  },
  paths: [
    { ...by('vpa'), rails: ['UPI'] },
    { ...by('accountNumber', 'ifsc', 'rail'), rails: ['NEFT', 'RTGS'], railField: 'rail' },
  ],
};

const swift: AccountTypeRow = {
  kind: 'bank',
  rules: [swiftRule],
  currencies: [],
  rails: ['SWIFT'],
  fields: {
    country: country('Country of the bank, ISO 3166-1 alpha-2.'),
    swiftCode: bic,
    bankName,
    accountNumber: optNumber,
    iban: opt(iban()),
  },
  paths: [
    { ...by('iban'), rails: ['SWIFT'] },
    { ...by('accountNumber', 'swiftCode'), rails: ['SWIFT'] },
  ],
};

const IDENTITY_DOCUMENTS =
  'Identity document type. CC: citizenship card. CE: foreigner card. TI: ' +
  'identity card of a minor. NIT: tax number. PP: passport.';

const copDocument = {
  documentType: oneOf(['CC', 'CE', 'TI', 'NIT', 'PP'], { description: IDENTITY_DOCUMENTS }),
  documentNumber: Type.String({
    minLength: 1,
    maxLength: 50,
    description: 'Number of the identity document.',
  }),
};

const LOCAL = ['BANK_TRANSFER'] as const;
const SEPA = ['SEPA', 'SEPA_INSTANT'] as const;
const byName = by('accountNumber', 'bankName');
const byCode = by('accountNumber', 'swiftCode');
const byPhone = by('phoneNumber', 'bankName');

const ROWS = {
  AED_ACCOUNT: bank(
    'AED',
    'AE',
    LOCAL,
    { iban: iban('AE', 21), swiftCode: optBic },
    by('iban'),
    needs('address'),
  ),
  BDT_ACCOUNT: bankOrMobile(
    'BDT',
    'BD',
    {
      bankName,
      accountNumber: optNumber,
      branchCode: opt(code('Branch code, 5 digits.', 5)),
      swiftCode: optBic,
    },
    [byName, byPhone],
  ),
  BRL_ACCOUNT: bank(
    'BRL',
    'BR',
    ['PIX'],
    { pixKey, pixKeyType, taxId: brazilianTaxId },
    by('pixKey'),
    { rules: [pixRule] },
  ),
  BWP_ACCOUNT: mobile('BWP', 'BW'),
  CAD_ACCOUNT: bank(
    'CAD',
    'CA',
    LOCAL,
    {
      bankCode: code('Institution number, 3 digits.', 3),
      branchCode: code('Transit number, 5 digits.', 5),
      accountNumber: accountNumber(7, 12),
    },
    by('accountNumber', 'bankCode', 'branchCode'),
    {
      individual: {
        extra: {
          registrationNumber: Type.String({
            description: 'Registration number of the person, if any.',
          }),
        },
      },
    },
  ),
  COP_ACCOUNT: bankOrMobile(
    'COP',
    'CO',
    { bankName, accountNumber: optNumber, bankAccountType: opt(bankAccountType) },
    [by('accountNumber', 'bankName', 'bankAccountType'), byPhone],
    { individual: { extra: copDocument } },
  ),
  DKK_ACCOUNT: bank('DKK', 'DK', SEPA, { iban: iban('DK', 16), swiftCode: optBic }, by('iban')),
  EGP_ACCOUNT: bankOrMobile('EGP', 'EG', { bankName, iban: opt(iban('EG', 27)) }, [
    by('iban'),
    byPhone,
  ]),
  EUR_ACCOUNT: bank(
    'EUR',
    undefined,
    SEPA,
    { iban: iban(), swiftCode: optBic },
    by('iban'),
    needs('countryOfResidence'),
  ),
  GBP_ACCOUNT: bank(
    'GBP',
    'GB',
    ['FASTER_PAYMENTS'],
    { sortCode: code('Sort code, 6 digits.', 6), accountNumber: accountNumber(8) },
    by('accountNumber', 'sortCode'),
  ),
  GHS_ACCOUNT: bankOrMobile('GHS', 'GH', { bankName, accountNumber: optNumber }, [byName, byPhone]),
  GTQ_ACCOUNT: bank(
    'GTQ',
    'GT',
    LOCAL,
    { accountNumber: number, bankAccountType, bankName },
    byName,
    needs('countryOfResidence', 'phoneNumber'),
  ),
  HKD_ACCOUNT: bank('HKD', 'HK', LOCAL, byBic, byCode),
  HTG_ACCOUNT: mobile('HTG', 'HT', phone(), {}),
  IDR_ACCOUNT: bank(
    'IDR',
    'ID',
    LOCAL,
    { ...byBic, phoneNumber: phone('^\\+62[0-9]{9,12}$') },
    byCode,
  ),
  INR_ACCOUNT: inr,
  JMD_ACCOUNT: bank(
    'JMD',
    'JM',
    LOCAL,
    {
      accountNumber: number,
      branchCode: code('Branch code, 5 digits.', 5),
      bankAccountType,
      bankName,
    },
    by('accountNumber', 'branchCode', 'bankName'),
    needs('address', 'phoneNumber'),
  ),
  KES_ACCOUNT: mobile('KES', 'KE', phone('^\\+254[0-9]{9}$')),
  MWK_ACCOUNT: mobile('MWK', 'MW'),
  MXN_ACCOUNT: bank('MXN', 'MX', ['SPEI'], { clabeNumber: clabe }, by('clabeNumber')),
  MYR_ACCOUNT: bank('MYR', 'MY', LOCAL, byBic, byCode),
  NGN_ACCOUNT: bank('NGN', 'NG', LOCAL, { accountNumber: accountNumber(10), bankName }, byName),
  PHP_ACCOUNT: bank('PHP', 'PH', LOCAL, { bankName, accountNumber: accountNumber(8, 16) }, byName),
  PKR_ACCOUNT: bankOrMobile(
    'PKR',
    'PK',
    { bankName, accountNumber: optNumber, iban: opt(pakistaniIban) },
    [byName, by('iban'), byPhone],
  ),
  RWF_ACCOUNT: mobile('RWF', 'RW', phone('^\\+250[0-9]{9}$')),
  SGD_ACCOUNT: bank(
    'SGD',
    'SG',
    ['PAYNOW', 'FAST', 'BANK_TRANSFER'],
    { ...byBic, bankName: opt(bankName) },
    byCode,
  ),
  SLV_ACCOUNT: bankOrMobile(
    'USD',
    'SV',
    { bankName: opt(bankName), accountNumber: optNumber, bankAccountType: opt(bankAccountType) },
    [by('accountNumber', 'bankName', 'bankAccountType'), by('phoneNumber')],
  ),
  THB_ACCOUNT: bank('THB', 'TH', LOCAL, byBic, byCode),
  TZS_ACCOUNT: mobile('TZS', 'TZ', phone('^\\+255[0-9]{9}$')),
  UGX_ACCOUNT: mobile('UGX', 'UG'),
  USD_ACCOUNT: bank(
    'USD',
    'US',
    ['ACH', 'WIRE', 'RTP', 'FEDNOW'],
    usd,
    by('accountNumber', 'routingNumber'),
    { pull: 'ACH' },
  ),
  VND_ACCOUNT: bank('VND', 'VN', LOCAL, byBic, byCode),
  XAF_ACCOUNT: mobile('XAF', undefined, phone(), {
    provider,
    region: country('Country of the mobile wallet.', ['CM', 'CG']),
  }),
  XOF_ACCOUNT: mobile('XOF', undefined, phone(), {
    provider,
    region: country('Country of the mobile wallet.', ['BJ', 'CI', 'SN', 'TG']),
  }),
  ZAR_ACCOUNT: bank('ZAR', 'ZA', LOCAL, { accountNumber: accountNumber(9, 13), bankName }, byName),
  ZMW_ACCOUNT: mobile('ZMW', 'ZM', phone('^\\+260[0-9]{9}$')),
  SWIFT_ACCOUNT: swift,
  BASE_WALLET: wallet('evm', 'Base', ['USDC'], 'BASE'),
  ETHEREUM_WALLET: wallet('evm', 'Ethereum', ['USDC', 'USDT'], 'ETHEREUM'),
  LIGHTNING: lightningRow,
  LIGHTNING_ACCOUNT: lightningRow,
  POLYGON_WALLET: wallet('evm', 'Polygon', ['USDC'], 'POLYGON'),
  PLASMA_WALLET: wallet('evm', 'Plasma', ['USDT'], 'PLASMA'),
  ARBITRUM_WALLET: wallet('evm', 'Arbitrum', ['USDC']),
  SOLANA_WALLET: wallet('solana', 'Solana', ['USDC', 'USDT'], 'SOLANA'),
  SPARK_WALLET: wallet('spark', 'Spark', ['BTC', 'USDB'], 'SPARK'),
  TRON_WALLET: wallet('tron', 'Tron', ['USDT'], 'TRON'),
  BITCOIN_L1: wallet('bitcoin', 'Bitcoin', ['BTC'], 'BITCOIN'),
  CNY_ACCOUNT: bankOrMobile(
    'CNY',
    'CN',
    { bankName, accountNumber: optNumber },
    [byName, byPhone],
    { rules: [chineseRule] },
  ),
  ILS_ACCOUNT: bank(
    'ILS',
    'IL',
    LOCAL,
    { iban: iban('IL', 21), bankName: opt(bankName), swiftCode: optBic },
    by('iban'),
  ),
  TRY_ACCOUNT: bank(
    'TRY',
    'TR',
    LOCAL,
    { iban: iban('TR', 24), bankName: opt(bankName) },
    by('iban'),
  ),
} as const satisfies Record<string, AccountTypeRow>;

export type AccountType = keyof typeof ROWS;

export const ACCOUNT_TYPE_ROWS: Readonly<Record<AccountType, AccountTypeRow>> = ROWS;

export const ACCOUNT_TYPES = Object.keys(ROWS) as AccountType[];

export const isAccountType = (text: string): text is AccountType => Object.hasOwn(ROWS, text);

/** Two names of one type are equal when accounts are compared. */
export const canonicalType = (type: string): string =>
  type === 'LIGHTNING_ACCOUNT' ? 'LIGHTNING' : type;
