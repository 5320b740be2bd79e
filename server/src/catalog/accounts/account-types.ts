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
const bicFields = { bankName, accountNumber: number, swiftCode: bic };
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
  fiToFiInformation: optional(
    note210('Message to the bank of the beneficiary (FI-to-FI information). Used only for wires.'),
  ),
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

const LOCAL_RAILS = ['BANK_TRANSFER'] as const;
const SEPA_RAILS = ['SEPA', 'SEPA_INSTANT'] as const;
const bankNamePath = pathBy('accountNumber', 'bankName');
const bicPath = pathBy('accountNumber', 'swiftCode');
const phonePath = pathBy('phoneNumber', 'bankName');

const ROWS = {
  AED_ACCOUNT: bankRow(
    'AED',
    'AE',
    LOCAL_RAILS,
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
    [bankNamePath, phonePath],
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
    LOCAL_RAILS,
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
    [pathBy('accountNumber', 'bankName', 'bankAccountType'), phonePath],
    { individual: { extra: colombianDocument } },
  ),
  DKK_ACCOUNT: bankRow(
    'DKK',
    'DK',
    SEPA_RAILS,
    { iban: iban('DK', 16), swiftCode: optionalBic },
    pathBy('iban'),
  ),
  EGP_ACCOUNT: bankOrMobileRow('EGP', 'EG', { bankName, iban: optional(iban('EG', 27)) }, [
    pathBy('iban'),
    phonePath,
  ]),
  EUR_ACCOUNT: bankRow(
    'EUR',
    undefined,
    SEPA_RAILS,
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
    bankNamePath,
    phonePath,
  ]),
  GTQ_ACCOUNT: bankRow(
    'GTQ',
    'GT',
    LOCAL_RAILS,
    { accountNumber: number, bankAccountType, bankName },
    bankNamePath,
    requiredOfIndividual('countryOfResidence', 'phoneNumber'),
  ),
  HKD_ACCOUNT: bankRow('HKD', 'HK', LOCAL_RAILS, bicFields, bicPath),
  HTG_ACCOUNT: mobileRow('HTG', 'HT', phone(), {}),
  IDR_ACCOUNT: bankRow(
    'IDR',
    'ID',
    LOCAL_RAILS,
    { ...bicFields, phoneNumber: phone('^\\+62[0-9]{9,12}$') },
    bicPath,
  ),
  INR_ACCOUNT: inrRow,
  JMD_ACCOUNT: bankRow(
    'JMD',
    'JM',
    LOCAL_RAILS,
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
  MYR_ACCOUNT: bankRow('MYR', 'MY', LOCAL_RAILS, bicFields, bicPath),
  NGN_ACCOUNT: bankRow(
    'NGN',
    'NG',
    LOCAL_RAILS,
    { accountNumber: accountNumber(10), bankName },
    bankNamePath,
  ),
  PHP_ACCOUNT: bankRow(
    'PHP',
    'PH',
    LOCAL_RAILS,
    { bankName, accountNumber: accountNumber(8, 16) },
    bankNamePath,
  ),
  PKR_ACCOUNT: bankOrMobileRow(
    'PKR',
    'PK',
    { bankName, accountNumber: optionalNumber, iban: optional(pakistaniIban) },
    [bankNamePath, pathBy('iban'), phonePath],
  ),
  RWF_ACCOUNT: mobileRow('RWF', 'RW', phone('^\\+250[0-9]{9}$')),
  SGD_ACCOUNT: bankRow(
    'SGD',
    'SG',
    ['PAYNOW', 'FAST', 'BANK_TRANSFER'],
    { ...bicFields, bankName: optional(bankName) },
    bicPath,
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
  THB_ACCOUNT: bankRow('THB', 'TH', LOCAL_RAILS, bicFields, bicPath),
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
  VND_ACCOUNT: bankRow('VND', 'VN', LOCAL_RAILS, bicFields, bicPath),
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
    LOCAL_RAILS,
    { accountNumber: accountNumber(9, 13), bankName },
    bankNamePath,
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
    [bankNamePath, phonePath],
    { rules: [cnyRule] },
  ),
  ILS_ACCOUNT: bankRow(
    'ILS',
    'IL',
    LOCAL_RAILS,
    { iban: iban('IL', 21), bankName: optional(bankName), swiftCode: optionalBic },
    pathBy('iban'),
  ),
  TRY_ACCOUNT: bankRow(
    'TRY',
    'TR',
    LOCAL_RAILS,
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
