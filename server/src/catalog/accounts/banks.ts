// Institutions for `bankName`, per country and currency. Many rails in these countries route by
// name. In production, `bankName` must have this exact spelling. Each list is a selection of large
// institutions.

interface Institution {
  /** Value of `bankName`. */
  readonly bankName: string;
  /** Name for user interfaces. */
  readonly displayName: string;
  readonly country: string;
  readonly currency: string;
}

/**
 * Names are separated by `|` or a new line. `bankName=displayName` sets a different display name.
 */
const BANKS: readonly (readonly [country: string, currency: string, names: string])[] = [
  [
    'BD',
    'BDT',
    `AB Bank|Bank Asia|BRAC Bank|City Bank|Dhaka Bank|Dutch-Bangla Bank|Eastern Bank
    Islami Bank Bangladesh|Janata Bank|Mutual Trust Bank|Pubali Bank|Sonali Bank
    Standard Chartered Bank|United Commercial Bank|bKash|Nagad|Rocket`,
  ],
  [
    'CN',
    'CNY',
    `Agricultural Bank of China|Bank of China|Bank of Communications|China CITIC Bank
    China Construction Bank|China Merchants Bank|Industrial and Commercial Bank of China=ICBC
    Ping An Bank|Postal Savings Bank of China|AliPay=Alipay|WechatPay=WeChat Pay`,
  ],
  [
    'CO',
    'COP',
    `Banco AV Villas|Banco Caja Social|Banco Davivienda|Banco de Bogota=Banco de Bogotá
    Banco de Occidente|Banco Popular|Bancolombia|BBVA Colombia|Itau Colombia=Itaú Colombia
    Scotiabank Colpatria|Daviplata|Nequi`,
  ],
  [
    'EG',
    'EGP',
    `Abu Dhabi Islamic Bank Egypt|Arab African International Bank|Banque du Caire|Banque Misr
    Commercial International Bank=CIB Egypt|Credit Agricole Egypt|HSBC Egypt
    National Bank of Egypt|QNB Egypt|Etisalat Cash|Orange Cash|Vodafone Cash`,
  ],
  [
    'GH',
    'GHS',
    `Absa Bank Ghana|Access Bank Ghana|CalBank|Consolidated Bank Ghana|Ecobank Ghana
    Fidelity Bank Ghana|GCB Bank|Stanbic Bank Ghana|Standard Chartered Bank Ghana
    Zenith Bank Ghana|AirtelTigo Money|MTN Mobile Money|Telecel Cash`,
  ],
  [
    'GT',
    'GTQ',
    `Banco Agromercantil|Banco de Desarrollo Rural=Banrural|Banco G&T Continental
    Banco Industrial|Banco Promerica|BAC Credomatic Guatemala|Vivibanco`,
  ],
  [
    'HK',
    'HKD',
    `Bank of China (Hong Kong)|Bank of East Asia|China Construction Bank (Asia)
    Citibank (Hong Kong)|DBS Bank (Hong Kong)|Hang Seng Bank|HSBC Hong Kong
    Industrial and Commercial Bank of China (Asia)=ICBC (Asia)
    Standard Chartered Bank (Hong Kong)|ZA Bank`,
  ],
  [
    'ID',
    'IDR',
    `Bank Central Asia=BCA|Bank CIMB Niaga|Bank Danamon|Bank Jago|Bank Mandiri
    Bank Negara Indonesia=BNI|Bank OCBC NISP|Bank Permata|Bank Rakyat Indonesia=BRI
    Bank Syariah Indonesia`,
  ],
  [
    'IL',
    'ILS',
    `Bank Hapoalim|Bank Leumi|First International Bank of Israel|Israel Discount Bank
    Mizrahi Tefahot Bank|ONE ZERO Digital Bank`,
  ],
  [
    'IN',
    'INR',
    `Axis Bank|Bank of Baroda|Canara Bank|Federal Bank|HDFC Bank|ICICI Bank|IDFC First Bank
    IndusInd Bank|Kotak Mahindra Bank|Punjab National Bank|State Bank of India
    Union Bank of India|Yes Bank`,
  ],
  [
    'JM',
    'JMD',
    `CIBC Caribbean Bank Jamaica|Citibank Jamaica|First Global Bank|JMMB Bank|JN Bank
    National Commercial Bank Jamaica=NCB|Sagicor Bank Jamaica|Scotiabank Jamaica`,
  ],
  [
    'MY',
    'MYR',
    `Affin Bank|Alliance Bank Malaysia|AmBank|Bank Islam Malaysia|Bank Rakyat|CIMB Bank
    Hong Leong Bank|HSBC Bank Malaysia|Malayan Banking=Maybank|OCBC Bank Malaysia|Public Bank
    RHB Bank|United Overseas Bank Malaysia=UOB Malaysia`,
  ],
  [
    'NG',
    'NGN',
    `Access Bank|Ecobank Nigeria|Fidelity Bank|First Bank of Nigeria
    First City Monument Bank=FCMB|Guaranty Trust Bank=GTBank|Kuda Bank|Moniepoint|OPay|PalmPay
    Polaris Bank|Stanbic IBTC Bank|Sterling Bank|Union Bank of Nigeria
    United Bank for Africa=UBA|Wema Bank|Zenith Bank`,
  ],
  [
    'PH',
    'PHP',
    `Bank of the Philippine Islands=BPI|BDO Unibank|China Banking Corporation|GCash
    Land Bank of the Philippines|Maya|Metropolitan Bank and Trust=Metrobank
    Philippine National Bank|Rizal Commercial Banking Corporation=RCBC|Security Bank
    Union Bank of the Philippines=UnionBank`,
  ],
  [
    'PK',
    'PKR',
    `Allied Bank|Askari Bank|Bank Alfalah|Bank Al Habib|Faysal Bank|Habib Bank=HBL|JS Bank
    MCB Bank|Meezan Bank|National Bank of Pakistan|Standard Chartered Bank Pakistan
    United Bank=UBL|Easypaisa|JazzCash`,
  ],
  [
    'SG',
    'SGD',
    `Bank of China Singapore|CIMB Bank Singapore|Citibank Singapore|DBS Bank|HSBC Singapore
    Industrial and Commercial Bank of China Singapore=ICBC Singapore|Maybank Singapore
    OCBC Bank|Standard Chartered Bank Singapore|Trust Bank Singapore|United Overseas Bank=UOB`,
  ],
  [
    'SV',
    'USD',
    `Banco Agricola=Banco Agrícola|Banco Cuscatlan=Banco Cuscatlán
    Banco Davivienda Salvadoreno=Davivienda El Salvador|Banco Hipotecario
    Banco Promerica El Salvador|BAC Credomatic El Salvador`,
  ],
  [
    'TH',
    'THB',
    `Bangkok Bank|Bank of Ayudhya=Krungsri|Government Savings Bank|Kasikornbank
    Kiatnakin Phatra Bank|Krungthai Bank|Siam Commercial Bank=SCB|TMBThanachart Bank=ttb
    United Overseas Bank Thai=UOB Thailand`,
  ],
  [
    'TR',
    'TRY',
    `Akbank|DenizBank|Garanti BBVA|Halkbank|ING Turkey|QNB Turkey|Turk Ekonomi Bankasi=TEB
    Turkiye Is Bankasi=İşbank|VakifBank=VakıfBank|Yapi Kredi=Yapı Kredi
    Ziraat Bankasi=Ziraat Bankası`,
  ],
  [
    'VN',
    'VND',
    `Agribank|Asia Commercial Bank=ACB|BIDV|Military Bank=MB|Sacombank|Techcombank|TPBank|VIB
    Vietcombank|VietinBank|VPBank`,
  ],
  [
    'ZA',
    'ZAR',
    `Absa Bank|African Bank|Capitec Bank|Discovery Bank|First National Bank=FNB|Investec Bank
    Nedbank|Standard Bank|TymeBank`,
  ],
];

export const INSTITUTIONS: readonly Institution[] = BANKS.flatMap(([country, currency, names]) =>
  names.split(/\||\n\s*/).map((entry) => {
    const [bankName = entry, displayName = bankName] = entry.split('=');
    return { bankName, displayName, country, currency };
  }),
);

/** Institutions of a country, a currency, or both. Returns all institutions without a filter. */
export const institutions = (filter: { country?: string; currency?: string } = {}): Institution[] =>
  INSTITUTIONS.filter(
    (each) =>
      (filter.country === undefined || each.country === filter.country) &&
      (filter.currency === undefined || each.currency === filter.currency),
  );

/**
 * `bankName` by bank code and country code of a BIC, for banks in Singapore, where `bankName` is
 * optional.
 */
const NAMES_BY_BIC: Readonly<Record<string, string>> = {
  'BKCH-SG': 'Bank of China Singapore',
  'CIBB-SG': 'CIMB Bank Singapore',
  'CITI-SG': 'Citibank Singapore',
  'DBSS-SG': 'DBS Bank',
  'HSBC-SG': 'HSBC Singapore',
  'HBSG-SG': 'HSBC Singapore',
  'ICBK-SG': 'Industrial and Commercial Bank of China Singapore',
  'MBBE-SG': 'Maybank Singapore',
  'OCBC-SG': 'OCBC Bank',
  'SCBL-SG': 'Standard Chartered Bank Singapore',
  'TRBU-SG': 'Trust Bank Singapore',
  'UOVB-SG': 'United Overseas Bank',
};

/** `bankName` of the bank with this BIC. Undefined for an unlisted bank. */
export const bankNameOfBic = (bic: string): string | undefined =>
  NAMES_BY_BIC[`${bic.slice(0, 4)}-${bic.slice(4, 6)}`];
