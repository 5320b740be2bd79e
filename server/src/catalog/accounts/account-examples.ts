// One complete set of details per account type, with valid check digits, for the API reference and
// for tests. Names and numbers are fictitious.
import type { Account } from './account-info.ts';
import type { AccountType } from './account-types.ts';

const person = (country: string, overrides: Record<string, unknown> = {}) => ({
  beneficiaryType: 'INDIVIDUAL',
  fullName: 'Amara Example',
  countryOfResidence: country,
  ...overrides,
});

const business = (country: string) => ({
  beneficiaryType: 'BUSINESS',
  legalName: 'Example Trading Ltd',
  registrationNumber: 'R-1001',
  countryOfResidence: country,
});

const address = (country: string) => ({
  line1: '1 Example Street',
  city: 'Example City',
  postalCode: '10001',
  country,
});

const asianAccount = (bankName: string, swiftCode: string, country: string) => ({
  bankName,
  accountNumber: '1234567890',
  swiftCode,
  beneficiary: person(country),
});

const mobile = (phoneNumber: string, provider: string, country: string) => ({
  phoneNumber,
  provider,
  beneficiary: person(country),
});

const EVM_DETAILS = { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' };

const DETAILS: Readonly<Record<AccountType, Readonly<Record<string, unknown>>>> = {
  AED_ACCOUNT: {
    iban: 'AE070331234567890123456',
    beneficiary: person('AE', { address: address('AE') }),
  },
  BDT_ACCOUNT: {
    bankName: 'BRAC Bank',
    accountNumber: '1501100000001',
    branchCode: '26012',
    beneficiary: person('BD'),
  },
  BRL_ACCOUNT: {
    pixKey: '52998224725',
    pixKeyType: 'CPF',
    taxId: '52998224725',
    beneficiary: person('BR'),
  },
  BWP_ACCOUNT: mobile('+26771234567', 'ORANGE', 'BW'),
  CAD_ACCOUNT: {
    bankCode: '003',
    branchCode: '00012',
    accountNumber: '1234567',
    beneficiary: person('CA'),
  },
  COP_ACCOUNT: {
    bankName: 'Bancolombia',
    accountNumber: '12345678901',
    bankAccountType: 'SAVINGS',
    beneficiary: person('CO', { documentType: 'CC', documentNumber: '1020304050' }),
  },
  DKK_ACCOUNT: { iban: 'DK5000400440116243', beneficiary: person('DK') },
  EGP_ACCOUNT: {
    bankName: 'Banque Misr',
    iban: 'EG380019000500000000263180002',
    beneficiary: person('EG'),
  },
  EUR_ACCOUNT: { iban: 'DE89370400440532013000', beneficiary: person('DE') },
  GBP_ACCOUNT: { sortCode: '200000', accountNumber: '55779911', beneficiary: person('GB') },
  GHS_ACCOUNT: {
    bankName: 'GCB Bank',
    accountNumber: '1011130000001',
    beneficiary: person('GH'),
  },
  GTQ_ACCOUNT: {
    bankName: 'Banco Industrial',
    accountNumber: '0012345678',
    bankAccountType: 'CHECKING',
    beneficiary: person('GT', { phoneNumber: '+50255551234' }),
  },
  HKD_ACCOUNT: asianAccount('HSBC Hong Kong', 'HSBCHKHHHKH', 'HK'),
  HTG_ACCOUNT: { phoneNumber: '+50934123456', beneficiary: person('HT') },
  IDR_ACCOUNT: {
    ...asianAccount('Bank Central Asia', 'CENAIDJA', 'ID'),
    phoneNumber: '+628123456789',
  },
  INR_ACCOUNT: { vpa: 'amara.example@okbank', beneficiary: person('IN') },
  JMD_ACCOUNT: {
    bankName: 'JN Bank',
    accountNumber: '2094567890',
    branchCode: '50765',
    bankAccountType: 'SAVINGS',
    beneficiary: person('JM', { address: address('JM'), phoneNumber: '+18765551234' }),
  },
  KES_ACCOUNT: mobile('+254712345678', 'M-PESA', 'KE'),
  MWK_ACCOUNT: mobile('+265991234567', 'AIRTEL', 'MW'),
  MXN_ACCOUNT: { clabeNumber: '032180000118359719', beneficiary: person('MX') },
  MYR_ACCOUNT: asianAccount('Malayan Banking', 'MBBEMYKL', 'MY'),
  NGN_ACCOUNT: {
    bankName: 'Guaranty Trust Bank',
    accountNumber: '0123456789',
    beneficiary: person('NG'),
  },
  PHP_ACCOUNT: {
    bankName: 'BDO Unibank',
    accountNumber: '001234567890',
    beneficiary: person('PH'),
  },
  PKR_ACCOUNT: {
    bankName: 'Habib Bank',
    iban: 'PK36SCBL0000001123456702',
    beneficiary: person('PK'),
  },
  RWF_ACCOUNT: mobile('+250781234567', 'MTN', 'RW'),
  SGD_ACCOUNT: asianAccount('DBS Bank', 'DBSSSGSG', 'SG'),
  SLV_ACCOUNT: {
    bankName: 'Banco Agricola',
    accountNumber: '003123456789',
    bankAccountType: 'SAVINGS',
    beneficiary: person('SV'),
  },
  THB_ACCOUNT: asianAccount('Kasikornbank', 'KASITHBK', 'TH'),
  TZS_ACCOUNT: mobile('+255712345678', 'VODACOM', 'TZ'),
  UGX_ACCOUNT: mobile('+256772123456', 'MTN', 'UG'),
  USD_ACCOUNT: {
    accountNumber: '123456789',
    routingNumber: '021000021',
    bankAccountType: 'CHECKING',
    beneficiary: person('US'),
  },
  VND_ACCOUNT: asianAccount('Vietcombank', 'BFTVVNVX', 'VN'),
  XAF_ACCOUNT: { ...mobile('+237671234567', 'MTN', 'CM'), region: 'CM' },
  XOF_ACCOUNT: { ...mobile('+221771234567', 'WAVE', 'SN'), region: 'SN' },
  ZAR_ACCOUNT: { bankName: 'Capitec Bank', accountNumber: '1234567890', beneficiary: person('ZA') },
  ZMW_ACCOUNT: mobile('+260971234567', 'AIRTEL', 'ZM'),
  SWIFT_ACCOUNT: {
    country: 'JP',
    swiftCode: 'BOTKJPJT',
    bankName: 'Example Bank of Japan',
    accountNumber: '1234567',
    beneficiary: business('JP'),
  },
  BASE_WALLET: EVM_DETAILS,
  ETHEREUM_WALLET: { ...EVM_DETAILS, beneficiary: person('DE') },
  LIGHTNING: { lightningAddress: 'amara@wallet.example' },
  LIGHTNING_ACCOUNT: { lightningAddress: 'amara@wallet.example' },
  POLYGON_WALLET: { ...EVM_DETAILS, vaspName: 'Kraken' },
  PLASMA_WALLET: EVM_DETAILS,
  ARBITRUM_WALLET: EVM_DETAILS,
  SOLANA_WALLET: { address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
  SPARK_WALLET: {
    address: 'spark1pgssy7d7vel0nh9m4326qc54e6rskpczn07dktww9rv4nu5ptvt0s9uc489gg2',
  },
  TRON_WALLET: { address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' },
  BITCOIN_L1: { address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
  CNY_ACCOUNT: {
    bankName: 'Bank of China',
    accountNumber: '6013820000000001',
    beneficiary: business('CN'),
  },
  ILS_ACCOUNT: { iban: 'IL620108000000099999999', beneficiary: person('IL') },
  TRY_ACCOUNT: { iban: 'TR330006100519786457841326', beneficiary: person('TR') },
};

/** Details of this type that are valid in production. */
export const exampleOf = (accountType: AccountType): Account => ({
  accountType,
  ...DETAILS[accountType],
});
