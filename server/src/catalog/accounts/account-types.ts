// Types of external account, one row each: fields, payment paths, rails and validation rules.
// Schemas, validation and most payment instructions are derived from this table.
import { Type } from '@sinclair/typebox';
import { oneOf } from '../../kernel/schema.ts';
import { cnyRule, pixRule, swiftRule } from './account-rules.ts';
import {
  type AccountTypeRow,
  bankOrMobileRow,
  bankRow,
  type Fields,
  lightningRow,
  mobileRow,
  pathBy,
  type RowOptions,
  walletRow,
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
  intermediaryRoutingNumber,
  name140,
  nonIdentifyingField,
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

const usdFields: Fields = {
  accountNumber: number,
  routingNumber,
  bankName: optional(name140('Name of the bank.')),
  bankAccountType: optional(bankAccountType),
  intermediaryBankName: optional(name140('Name of the intermediary bank. Used only for wires.')),
  intermediaryRoutingNumber: optional(nonIdentifyingField(intermediaryRoutingNumber)),
  fiToFiInformation: optional(note210('FI-to-FI information. Used only for wires.')),
};

const inrRow: AccountTypeRow = {
  kind: 'bank',
  currencies: ['INR'],
  country: 'IN',
  rails: ['UPI', 'NEFT', 'RTGS'],
  fields: {
    vpa: optional(vpa),
    accountNumber: optional(accountNumber(9, 18)),
    ifsc: optional(ifsc),
    rail: optional(
      choice(
        'Rail of payments to the bank account. Required with `accountNumber`, unless `vpa` is set.',
        ['NEFT', 'RTGS'],
      ),
    ),
    bankName: optional(bankName),
  },
  paths: [
    { ...pathBy('vpa'), rails: ['UPI'] },
    { ...pathBy('accountNumber', 'ifsc', 'rail'), rails: ['NEFT', 'RTGS'], railField: 'rail' },
  ],
};

const swiftRow: AccountTypeRow = {
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
    { ...pathBy('iban'), rails: ['SWIFT'] },
    { ...pathBy('accountNumber', 'swiftCode'), rails: ['SWIFT'] },
  ],
};

const IDENTITY_DOCUMENTS =
  'Identity document type. CC: citizenship card. CE: foreigner card. TI: ' +
  'identity card of a minor. NIT: tax number. PP: passport.';

const colombianDocument = {
  documentType: oneOf(['CC', 'CE', 'TI', 'NIT', 'PP'], { description: IDENTITY_DOCUMENTS }),
  documentNumber: Type.String({
    minLength: 1,
    maxLength: 50,
    description: 'Number of the identity document.',
  }),
};

const LOCAL = ['BANK_TRANSFER'] as const;
const SEPA = ['SEPA', 'SEPA_INSTANT'] as const;
const byName = pathBy('accountNumber', 'bankName');
const byCode = pathBy('accountNumber', 'swiftCode');
const byPhone = pathBy('phoneNumber', 'bankName');

const ROWS = {
  AED_ACCOUNT: bankRow(
    'AED',
    'AE',
    LOCAL,
    { iban: iban('AE', 21), swiftCode: optionalBic },
    pathBy('iban'),
    requiredOfIndividual('address'),
  ),
  BDT_ACCOUNT: bankOrMobileRow(
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
  BRL_ACCOUNT: bankRow(
    'BRL',
    'BR',
    ['PIX'],
    { pixKey, pixKeyType, taxId: brazilianTaxId },
    pathBy('pixKey'),
    { rules: [pixRule] },
  ),
  BWP_ACCOUNT: mobileRow('BWP', 'BW'),
  CAD_ACCOUNT: bankRow(
    'CAD',
    'CA',
    LOCAL,
    {
      bankCode: code('Institution number, 3 digits.', 3),
      branchCode: code('Transit number, 5 digits.', 5),
      accountNumber: accountNumber(7, 12),
    },
    pathBy('accountNumber', 'bankCode', 'branchCode'),
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
  COP_ACCOUNT: bankOrMobileRow(
    'COP',
    'CO',
    { bankName, accountNumber: optionalNumber, bankAccountType: optional(bankAccountType) },
    [pathBy('accountNumber', 'bankName', 'bankAccountType'), byPhone],
    { individual: { extra: colombianDocument } },
  ),
  DKK_ACCOUNT: bankRow(
    'DKK',
    'DK',
    SEPA,
    { iban: iban('DK', 16), swiftCode: optionalBic },
    pathBy('iban'),
  ),
  EGP_ACCOUNT: bankOrMobileRow('EGP', 'EG', { bankName, iban: optional(iban('EG', 27)) }, [
    pathBy('iban'),
    byPhone,
  ]),
  EUR_ACCOUNT: bankRow(
    'EUR',
    undefined,
    SEPA,
    { iban: iban(), swiftCode: optionalBic },
    pathBy('iban'),
    requiredOfIndividual('countryOfResidence'),
  ),
  GBP_ACCOUNT: bankRow(
    'GBP',
    'GB',
    ['FASTER_PAYMENTS'],
    { sortCode: code('Sort code, 6 digits.', 6), accountNumber: accountNumber(8) },
    pathBy('accountNumber', 'sortCode'),
  ),
  GHS_ACCOUNT: bankOrMobileRow('GHS', 'GH', { bankName, accountNumber: optionalNumber }, [
    byName,
    byPhone,
  ]),
  GTQ_ACCOUNT: bankRow(
    'GTQ',
    'GT',
    LOCAL,
    { accountNumber: number, bankAccountType, bankName },
    byName,
    requiredOfIndividual('countryOfResidence', 'phoneNumber'),
  ),
  HKD_ACCOUNT: bankRow('HKD', 'HK', LOCAL, byBic, byCode),
  HTG_ACCOUNT: mobileRow('HTG', 'HT', phone(), {}),
  IDR_ACCOUNT: bankRow(
    'IDR',
    'ID',
    LOCAL,
    { ...byBic, phoneNumber: phone('^\\+62[0-9]{9,12}$') },
    byCode,
  ),
  INR_ACCOUNT: inrRow,
  JMD_ACCOUNT: bankRow(
    'JMD',
    'JM',
    LOCAL,
    {
      accountNumber: number,
      branchCode: code('Branch code, 5 digits.', 5),
      bankAccountType,
      bankName,
    },
    pathBy('accountNumber', 'branchCode', 'bankName'),
    requiredOfIndividual('address', 'phoneNumber'),
  ),
  KES_ACCOUNT: mobileRow('KES', 'KE', phone('^\\+254[0-9]{9}$')),
  MWK_ACCOUNT: mobileRow('MWK', 'MW'),
  MXN_ACCOUNT: bankRow('MXN', 'MX', ['SPEI'], { clabeNumber: clabe }, pathBy('clabeNumber')),
  MYR_ACCOUNT: bankRow('MYR', 'MY', LOCAL, byBic, byCode),
  NGN_ACCOUNT: bankRow('NGN', 'NG', LOCAL, { accountNumber: accountNumber(10), bankName }, byName),
  PHP_ACCOUNT: bankRow(
    'PHP',
    'PH',
    LOCAL,
    { bankName, accountNumber: accountNumber(8, 16) },
    byName,
  ),
  PKR_ACCOUNT: bankOrMobileRow(
    'PKR',
    'PK',
    { bankName, accountNumber: optionalNumber, iban: optional(pakistaniIban) },
    [byName, pathBy('iban'), byPhone],
  ),
  RWF_ACCOUNT: mobileRow('RWF', 'RW', phone('^\\+250[0-9]{9}$')),
  SGD_ACCOUNT: bankRow(
    'SGD',
    'SG',
    ['PAYNOW', 'FAST', 'BANK_TRANSFER'],
    { ...byBic, bankName: optional(bankName) },
    byCode,
  ),
  SLV_ACCOUNT: bankOrMobileRow(
    'USD',
    'SV',
    {
      bankName: optional(bankName),
      accountNumber: optionalNumber,
      bankAccountType: optional(bankAccountType),
    },
    [pathBy('accountNumber', 'bankName', 'bankAccountType'), pathBy('phoneNumber')],
  ),
  THB_ACCOUNT: bankRow('THB', 'TH', LOCAL, byBic, byCode),
  TZS_ACCOUNT: mobileRow('TZS', 'TZ', phone('^\\+255[0-9]{9}$')),
  UGX_ACCOUNT: mobileRow('UGX', 'UG'),
  USD_ACCOUNT: bankRow(
    'USD',
    'US',
    ['ACH', 'WIRE', 'RTP', 'FEDNOW'],
    usdFields,
    pathBy('accountNumber', 'routingNumber'),
    { debitRail: 'ACH' },
  ),
  VND_ACCOUNT: bankRow('VND', 'VN', LOCAL, byBic, byCode),
  XAF_ACCOUNT: mobileRow('XAF', undefined, phone(), {
    provider,
    region: country('Country of the mobile wallet.', ['CM', 'CG']),
  }),
  XOF_ACCOUNT: mobileRow('XOF', undefined, phone(), {
    provider,
    region: country('Country of the mobile wallet.', ['BJ', 'CI', 'SN', 'TG']),
  }),
  ZAR_ACCOUNT: bankRow(
    'ZAR',
    'ZA',
    LOCAL,
    { accountNumber: accountNumber(9, 13), bankName },
    byName,
  ),
  ZMW_ACCOUNT: mobileRow('ZMW', 'ZM', phone('^\\+260[0-9]{9}$')),
  SWIFT_ACCOUNT: swiftRow,
  BASE_WALLET: walletRow('evm', 'Base', ['USDC'], 'BASE'),
  ETHEREUM_WALLET: walletRow('evm', 'Ethereum', ['USDC', 'USDT'], 'ETHEREUM'),
  LIGHTNING: lightningRow,
  LIGHTNING_ACCOUNT: lightningRow,
  POLYGON_WALLET: walletRow('evm', 'Polygon', ['USDC'], 'POLYGON'),
  PLASMA_WALLET: walletRow('evm', 'Plasma', ['USDT'], 'PLASMA'),
  ARBITRUM_WALLET: walletRow('evm', 'Arbitrum', ['USDC']),
  SOLANA_WALLET: walletRow('solana', 'Solana', ['USDC', 'USDT'], 'SOLANA'),
  SPARK_WALLET: walletRow('spark', 'Spark', ['BTC', 'USDB'], 'SPARK'),
  TRON_WALLET: walletRow('tron', 'Tron', ['USDT'], 'TRON'),
  BITCOIN_L1: walletRow('bitcoin', 'Bitcoin', ['BTC'], 'BITCOIN'),
  CNY_ACCOUNT: bankOrMobileRow(
    'CNY',
    'CN',
    { bankName, accountNumber: optionalNumber },
    [byName, byPhone],
    { rules: [cnyRule] },
  ),
  ILS_ACCOUNT: bankRow(
    'ILS',
    'IL',
    LOCAL,
    { iban: iban('IL', 21), bankName: optional(bankName), swiftCode: optionalBic },
    pathBy('iban'),
  ),
  TRY_ACCOUNT: bankRow(
    'TRY',
    'TR',
    LOCAL,
    { iban: iban('TR', 24), bankName: optional(bankName) },
    pathBy('iban'),
  ),
} as const satisfies Record<string, AccountTypeRow>;

export type AccountType = keyof typeof ROWS;

export const ACCOUNT_TYPE_ROWS: Readonly<Record<AccountType, AccountTypeRow>> = ROWS;

export const ACCOUNT_TYPES = Object.keys(ROWS) as AccountType[];

export const isAccountType = (text: string): text is AccountType => Object.hasOwn(ROWS, text);

/** Account type for comparison. `LIGHTNING` and `LIGHTNING_ACCOUNT` are the same type. */
export const canonicalType = (type: string): string =>
  type === 'LIGHTNING_ACCOUNT' ? 'LIGHTNING' : type;
