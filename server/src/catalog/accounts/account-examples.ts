// One complete set of details per account type, with valid check digits, for the API reference and
// for tests. Names, addresses and numbers are fictitious, and fit the country of the account.
import type { Account } from './account-info.ts';
import type { AccountType } from './account-types.ts';

type Details = Readonly<Record<string, unknown>>;

const person = (fullName: string, country: string, overrides: Details = {}) => ({
  beneficiaryType: 'INDIVIDUAL',
  fullName,
  countryOfResidence: country,
  ...overrides,
});

const business = (legalName: string, registrationNumber: string, country: string) => ({
  beneficiaryType: 'BUSINESS',
  legalName,
  registrationNumber,
  countryOfResidence: country,
});

type Beneficiary = ReturnType<typeof person>;

const bicAccount = (
  [bankName, swiftCode]: readonly [string, string],
  accountNumber: string,
  beneficiary: Beneficiary,
) => ({ bankName, accountNumber, swiftCode, beneficiary });

const mobile = (phoneNumber: string, provider: string, beneficiary: Beneficiary) => ({
  phoneNumber,
  provider,
  beneficiary,
});

/**
 * Addresses of wallets whose secret is the SHA-256 of `Railhead example wallet`, so that no contract
 * has them. A test derives them again.
 */
const EXAMPLE_WALLETS = {
  evm: '0xF46cB43c4aD46f9b2bC42d68FEa74429c1C6b5FA',
  solana: '3GEo6YM4tAcjw1SYMJsmJsskneZAYSze32Q5Yk2tTudS',
  spark: 'spark1pgssye459kkhhs29e94q4dsftfa76ma2u56s29pyjrr7hdcae7ktysssauv8fk',
  tron: 'TYFc6kkLYuE5xvQ1mkVojRhEsCEN4YSLM5',
  bitcoin: 'bc1qdxw8c9q8gd3ctpfy35vx0kwpn6gqae8kj7ad4s',
} as const;

const EVM_DETAILS = { address: EXAMPLE_WALLETS.evm };

const DETAILS: Readonly<Record<AccountType, Details>> = {
  AED_ACCOUNT: {
    iban: 'AE070331234567890123456',
    // The United Arab Emirates have no postal codes. Forms contain 00000.
    beneficiary: person('Layla Al Mansoori', 'AE', {
      address: {
        line1: 'Apartment 1204, Al Wasl Road',
        city: 'Dubai',
        postalCode: '00000',
        country: 'AE',
      },
    }),
  },
  BDT_ACCOUNT: {
    bankName: 'BRAC Bank',
    accountNumber: '1501100000001',
    branchCode: '26012',
    beneficiary: person('Farhana Akter', 'BD'),
  },
  BRL_ACCOUNT: {
    pixKey: '52998224725',
    pixKeyType: 'CPF',
    taxId: '52998224725',
    beneficiary: person('Beatriz Carvalho', 'BR'),
  },
  BWP_ACCOUNT: mobile('+26772123456', 'ORANGE', person('Kagiso Molefe', 'BW')),
  CAD_ACCOUNT: {
    bankCode: '003',
    branchCode: '00012',
    accountNumber: '1234567',
    beneficiary: person('Claire Tremblay', 'CA'),
  },
  COP_ACCOUNT: {
    bankName: 'Bancolombia',
    accountNumber: '12345678901',
    bankAccountType: 'SAVINGS',
    beneficiary: person('Camila Restrepo', 'CO', {
      documentType: 'CC',
      documentNumber: '1020304050',
    }),
  },
  DKK_ACCOUNT: { iban: 'DK5000400440116243', beneficiary: person('Mette Lund', 'DK') },
  EGP_ACCOUNT: {
    bankName: 'Banque Misr',
    iban: 'EG530002000500000000263180017',
    beneficiary: person('Yasmin Fathy', 'EG'),
  },
  EUR_ACCOUNT: { iban: 'DE89370400440532013000', beneficiary: person('Lukas Weber', 'DE') },
  GBP_ACCOUNT: {
    sortCode: '200000',
    accountNumber: '55779911',
    beneficiary: person('Harriet Collins', 'GB'),
  },
  GHS_ACCOUNT: {
    bankName: 'GCB Bank',
    accountNumber: '1011130000001',
    beneficiary: person('Kwabena Asante', 'GH'),
  },
  GTQ_ACCOUNT: {
    bankName: 'Banco Industrial',
    accountNumber: '0012345678',
    bankAccountType: 'CHECKING',
    beneficiary: person('Andrea Morales', 'GT', { phoneNumber: '+50255551234' }),
  },
  HKD_ACCOUNT: bicAccount(
    ['HSBC Hong Kong', 'HSBCHKHHHKH'],
    '511482736838',
    person('Chan Ka Yan', 'HK'),
  ),
  HTG_ACCOUNT: { phoneNumber: '+50934123456', beneficiary: person('Wideline Joseph', 'HT') },
  IDR_ACCOUNT: {
    ...bicAccount(['Bank Central Asia', 'CENAIDJA'], '5270311188', person('Rina Wulandari', 'ID')),
    phoneNumber: '+628123456789',
  },
  INR_ACCOUNT: { vpa: 'ananya.iyer@okbank', beneficiary: person('Ananya Iyer', 'IN') },
  JMD_ACCOUNT: {
    bankName: 'JN Bank',
    accountNumber: '2094567890',
    branchCode: '50765',
    bankAccountType: 'SAVINGS',
    // The postal code of Kingston is the number of the postal sector.
    beneficiary: person('Shanice Campbell', 'JM', {
      address: { line1: '22 Barbican Road', city: 'Kingston', postalCode: '8', country: 'JM' },
      phoneNumber: '+18765551234',
    }),
  },
  KES_ACCOUNT: mobile('+254712345678', 'M-PESA', person('Wanjiru Kamau', 'KE')),
  MWK_ACCOUNT: mobile('+265991234567', 'AIRTEL', person('Chikondi Banda', 'MW')),
  MXN_ACCOUNT: { clabeNumber: '032180000118359719', beneficiary: person('Sofía Herrera', 'MX') },
  MYR_ACCOUNT: bicAccount(
    ['Malayan Banking', 'MBBEMYKL'],
    '514012345678',
    person('Nur Aisyah Rahman', 'MY'),
  ),
  NGN_ACCOUNT: {
    bankName: 'Guaranty Trust Bank',
    accountNumber: '2045167387',
    beneficiary: person('Chidinma Eze', 'NG'),
  },
  PHP_ACCOUNT: {
    bankName: 'BDO Unibank',
    accountNumber: '001234567890',
    beneficiary: person('Maria Lourdes Reyes', 'PH'),
  },
  PKR_ACCOUNT: {
    bankName: 'Habib Bank',
    iban: 'PK13HABB0000001123456702',
    beneficiary: person('Bilal Qureshi', 'PK'),
  },
  RWF_ACCOUNT: mobile('+250781234567', 'MTN', person('Claudine Uwase', 'RW')),
  SGD_ACCOUNT: bicAccount(['DBS Bank', 'DBSSSGSG'], '0725948316', person('Tan Wei Ling', 'SG')),
  SLV_ACCOUNT: {
    bankName: 'Banco Agricola',
    accountNumber: '003123456789',
    bankAccountType: 'SAVINGS',
    beneficiary: person('Gabriela Portillo', 'SV'),
  },
  THB_ACCOUNT: bicAccount(
    ['Kasikornbank', 'KASITHBK'],
    '0481726395',
    person('Siriporn Chaiyasit', 'TH'),
  ),
  TZS_ACCOUNT: mobile('+255754123456', 'VODACOM', person('Neema Mushi', 'TZ')),
  UGX_ACCOUNT: mobile('+256772123456', 'MTN', person('Grace Nakato', 'UG')),
  USD_ACCOUNT: {
    accountNumber: '123456789',
    routingNumber: '021000021',
    bankAccountType: 'CHECKING',
    beneficiary: person('Megan Foster', 'US'),
  },
  VND_ACCOUNT: bicAccount(
    ['Vietcombank', 'BFTVVNVX'],
    '0071001234567',
    person('Nguyen Thi Mai', 'VN'),
  ),
  XAF_ACCOUNT: { ...mobile('+237671234567', 'MTN', person('Brice Mbarga', 'CM')), region: 'CM' },
  XOF_ACCOUNT: { ...mobile('+221771234567', 'WAVE', person('Aminata Diop', 'SN')), region: 'SN' },
  ZAR_ACCOUNT: {
    bankName: 'Capitec Bank',
    accountNumber: '1284567890',
    beneficiary: person('Lerato Dlamini', 'ZA'),
  },
  ZMW_ACCOUNT: mobile('+260971234567', 'AIRTEL', person('Mutale Phiri', 'ZM')),
  SWIFT_ACCOUNT: {
    country: 'JP',
    swiftCode: 'BOTKJPJT',
    bankName: 'MUFG Bank',
    accountNumber: '1234567',
    beneficiary: business('Kitahama Tableware K.K.', '7010401087612', 'JP'),
  },
  BASE_WALLET: EVM_DETAILS,
  ETHEREUM_WALLET: { ...EVM_DETAILS, beneficiary: person('Jonas Hoffmann', 'DE') },
  LIGHTNING: { lightningAddress: 'amara@wallet.example' },
  LIGHTNING_ACCOUNT: { lightningAddress: 'amara.okafor@wallet.example' },
  POLYGON_WALLET: { ...EVM_DETAILS, vaspName: 'Kraken' },
  PLASMA_WALLET: EVM_DETAILS,
  ARBITRUM_WALLET: EVM_DETAILS,
  SOLANA_WALLET: { address: EXAMPLE_WALLETS.solana },
  SPARK_WALLET: { address: EXAMPLE_WALLETS.spark },
  TRON_WALLET: { address: EXAMPLE_WALLETS.tron },
  BITCOIN_L1: { address: EXAMPLE_WALLETS.bitcoin },
  CNY_ACCOUNT: {
    bankName: 'Bank of China',
    accountNumber: '6013820000000001',
    beneficiary: business('Suzhou Lantern Textiles Co., Ltd.', '91320505MA1X7K4Q2B', 'CN'),
  },
  ILS_ACCOUNT: { iban: 'IL620108000000099999999', beneficiary: person('Noa Ben David', 'IL') },
  TRY_ACCOUNT: { iban: 'TR330006100519786457841326', beneficiary: person('Elif Kaya', 'TR') },
};

/** Details of this type that are valid in production. */
export const exampleOf = (accountType: AccountType): Account => ({
  accountType,
  ...DETAILS[accountType],
});
