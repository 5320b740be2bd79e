// Types of external account, one row each: fields, payment paths, rails and validation rules.
// Schemas, validation and funding instructions are derived from this table. No other code branches
// on an account type.
import { Type } from '@sinclair/typebox';
import { oneOf } from '../../kernel/schema.ts';
import { cnyRule, pixRule, swiftRule } from './account-rules.ts';
import {
  type AccountTypeRow,
  bank,
  bankOrMobile,
  by,
  type Fields,
  lightningRow,
  mobile,
  type RowOptions,
  wallet,
} from './account-type-row.ts';
import {
  accountNumber,
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
  nonIdentifying,
  note210,
  optional,
  pakistaniIban,
  phone,
  pixKey,
  pixKeyType,
  provider,
  routingNumber,
  vpa,
} from './fields.ts';

const number = accountNumber();
/** Bank name, account number and BIC, as in many Asian countries. */
const byBic = { bankName, accountNumber: number, swiftCode: bic };
const optionalNumber = optional(number);
const optionalBic = optional(bic);
const requiredOfIndividual = (...fields: string[]): RowOptions => ({
  individual: { required: fields },
});

const usd: Fields = {
  accountNumber: number,
  routingNumber,
  bankName: optional(name140('Name of the bank.')),
  bankAccountType: optional(bankAccountType),
  intermediaryBankName: optional(name140('Name of the intermediary bank. Used only for wires.')),
  intermediaryRoutingNumber: optional(nonIdentifying(routingNumber)),
  fiToFiInformation: optional(note210('FI-to-FI information. Used only for wires.')),
};

const inr: AccountTypeRow = {
  kind: 'bank',
  currencies: ['INR'],
  country: 'IN',
  rails: ['UPI', 'NEFT', 'RTGS'],
  fields: {
    vpa: optional(vpa),
    accountNumber: optional(accountNumber(9, 18)),
    ifsc: optional(ifsc),
    rail: optional(
      choice('Rail for payments to the bank account. Required with `accountNumber`.', [
        'NEFT',
        'RTGS',
      ]),
    ),
    bankName: optional(bankName),
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
    accountNumber: optionalNumber,
    iban: optional(iban()),
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
    { iban: iban('AE', 21), swiftCode: optionalBic },
    by('iban'),
    requiredOfIndividual('address'),
  ),
  BDT_ACCOUNT: bankOrMobile(
    'BDT',
    'BD',
    {
      bankName,
      accountNumber: optionalNumber,
      branchCode: optional(code('Branch code, 5 digits.', 5)),
      swiftCode: optionalBic,
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
    { bankName, accountNumber: optionalNumber, bankAccountType: optional(bankAccountType) },
    [by('accountNumber', 'bankName', 'bankAccountType'), byPhone],
    { individual: { extra: copDocument } },
  ),
  DKK_ACCOUNT: bank(
    'DKK',
    'DK',
    SEPA,
    { iban: iban('DK', 16), swiftCode: optionalBic },
    by('iban'),
  ),
  EGP_ACCOUNT: bankOrMobile('EGP', 'EG', { bankName, iban: optional(iban('EG', 27)) }, [
    by('iban'),
    byPhone,
  ]),
  EUR_ACCOUNT: bank(
    'EUR',
    undefined,
    SEPA,
    { iban: iban(), swiftCode: optionalBic },
    by('iban'),
    requiredOfIndividual('countryOfResidence'),
  ),
  GBP_ACCOUNT: bank(
    'GBP',
    'GB',
    ['FASTER_PAYMENTS'],
    { sortCode: code('Sort code, 6 digits.', 6), accountNumber: accountNumber(8) },
    by('accountNumber', 'sortCode'),
  ),
  GHS_ACCOUNT: bankOrMobile('GHS', 'GH', { bankName, accountNumber: optionalNumber }, [
    byName,
    byPhone,
  ]),
  GTQ_ACCOUNT: bank(
    'GTQ',
    'GT',
    LOCAL,
    { accountNumber: number, bankAccountType, bankName },
    byName,
    requiredOfIndividual('countryOfResidence', 'phoneNumber'),
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
    requiredOfIndividual('address', 'phoneNumber'),
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
    { bankName, accountNumber: optionalNumber, iban: optional(pakistaniIban) },
    [byName, by('iban'), byPhone],
  ),
  RWF_ACCOUNT: mobile('RWF', 'RW', phone('^\\+250[0-9]{9}$')),
  SGD_ACCOUNT: bank(
    'SGD',
    'SG',
    ['PAYNOW', 'FAST', 'BANK_TRANSFER'],
    { ...byBic, bankName: optional(bankName) },
    byCode,
  ),
  SLV_ACCOUNT: bankOrMobile(
    'USD',
    'SV',
    {
      bankName: optional(bankName),
      accountNumber: optionalNumber,
      bankAccountType: optional(bankAccountType),
    },
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
    { debitRail: 'ACH' },
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
    { bankName, accountNumber: optionalNumber },
    [byName, byPhone],
    { rules: [cnyRule] },
  ),
  ILS_ACCOUNT: bank(
    'ILS',
    'IL',
    LOCAL,
    { iban: iban('IL', 21), bankName: optional(bankName), swiftCode: optionalBic },
    by('iban'),
  ),
  TRY_ACCOUNT: bank(
    'TRY',
    'TR',
    LOCAL,
    { iban: iban('TR', 24), bankName: optional(bankName) },
    by('iban'),
  ),
} as const satisfies Record<string, AccountTypeRow>;

export type AccountType = keyof typeof ROWS;

export const ACCOUNT_TYPE_ROWS: Readonly<Record<AccountType, AccountTypeRow>> = ROWS;

export const ACCOUNT_TYPES = Object.keys(ROWS) as AccountType[];

export const isAccountType = (text: string): text is AccountType => Object.hasOwn(ROWS, text);

/** Account type for comparison. `LIGHTNING` and `LIGHTNING_ACCOUNT` are the same type. */
export const canonicalType = (type: string): string =>
  type === 'LIGHTNING_ACCOUNT' ? 'LIGHTNING' : type;
