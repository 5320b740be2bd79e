// Tax identifiers of natural persons per country: name, example, format and source. Countries whose
// source defines no format accept any 3 to 30 letters and digits. Nationality and residence
// determine which identifier is required. The hosted verification page shares this file.
import { COUNTRY_CODES, countryName } from './countries.ts';
import { TAX_IDENTIFIER_CHECKS } from './tax-identifier-checks.ts';

export interface TaxIdentifier {
  /** Local name of the number. */
  name: string;
  /** Example with the usual separators. Absent if no format is recorded. */
  example?: string;
  /** Pattern of the compact form: upper case, without spaces and separators. */
  pattern: string;
  /** False if the country issues no number, or only to self-employed persons. */
  isIssued: boolean;
  /** Publication of the data in this row, or `none recorded`. */
  source: string;
}

/** The United States and the territories whose residents have US tax identifiers. */
const US_TERRITORIES: readonly string[] = ['US', 'AS', 'GU', 'MP', 'PR', 'UM', 'VI'];

/** Issuing country, for territories whose residents have the number of another country. */
const ISSUING_COUNTRY: Readonly<Record<string, string>> = {
  ...{ AX: 'FI', GL: 'DK', SJ: 'NO' },
  ...{ GF: 'FR', GP: 'FR', MQ: 'FR', RE: 'FR', YT: 'FR' },
};

const OECD = 'OECD, Tax Identification Numbers';
const EU = 'European Commission, TIN';

/** Separators that are not part of a number. */
const SEPARATORS = /[\s.\-/()'’_]/g;

const ANY_FORMAT = '^[\\p{L}\\p{N}&,]{3,30}$';
const digits = (...lengths: string[]): string => `^(${lengths.map((n) => `\\d{${n}}`).join('|')})$`;

type Row = readonly [name: string, example: string, pattern: string];

/** Formats published by the European Commission. */
const EU_ROWS: Readonly<Record<string, Row>> = {
  AT: ['Abgabenkontonummer', '93 173/6581', digits('9')],
  BE: ['Numéro national / Rijksregisternummer', '85.07.30-033.28', digits('11')],
  BG: ['Единен граждански номер (ЕГН)', '7523169263', digits('10')],
  CY: ['Tax identification code', '00123123T', '^\\d{8}[A-Z]$'],
  CZ: ['Rodné číslo', '710319/2745', digits('9', '10')],
  DE: ['Steuerliche Identifikationsnummer (IdNr.)', '86 095 742 719', '^[1-9]\\d{10}$'],
  DK: ['CPR-nummer', '211062-5629', digits('10')],
  EE: ['Isikukood', '37605030299', digits('11')],
  ES: ['NIF / NIE', '54362315K', '^(\\d{8}|[KLMXYZ]\\d{7})[A-Z]$'],
  FI: ['Henkilötunnus (HETU)', '131052-308T', '^\\d{6}[A-FU-Y]?\\d{3}[\\dA-Y]$'],
  FR: ['Numéro fiscal de référence (SPI)', '30 23 217 600 053', '^[0-3]\\d{12}$'],
  GR: ['Αριθμός Φορολογικού Μητρώου (ΑΦΜ)', '094259216', digits('9')],
  HR: ['Osobni identifikacijski broj (OIB)', '94577403194', digits('11')],
  HU: ['Adóazonosító jel', '8071592153', '^8\\d{9}$'],
  IE: ['Personal Public Service Number (PPSN)', '1234567FA', '^\\d{7}[A-W][A-IW]?$'],
  IT: [
    'Codice fiscale',
    'RSSMRA85T10A562S',
    '^[A-Z]{6}[\\dL-NP-V]{2}[A-EHLMPR-T][\\dL-NP-V]{2}[A-Z][\\dL-NP-V]{3}[A-Z]$',
  ],
  LT: ['Asmens kodas', '33309240064', digits('11')],
  LU: ['Matricule', '1893120105732', digits('13')],
  LV: ['Personas kods', '161175-19997', digits('11')],
  MT: ['Identity card or tax number', '1234567A', '^(\\d{1,7}[ABGHLMPZ]|\\d{9})$'],
  NL: ['Burgerservicenummer (BSN)', '174559434', digits('9')],
  PL: ['PESEL / NIP', '44051401359', digits('10', '11')],
  PT: ['Número de identificação fiscal (NIF)', '299999998', digits('9')],
  RO: ['Cod numeric personal (CNP)', '1630615123457', digits('13')],
  SE: ['Personnummer', '640823-3234', digits('10', '12')],
  SI: ['Davčna številka', '15012557', digits('8')],
  SK: ['Rodné číslo / DIČ', '771116/7420', digits('9', '10')],
};

/** Formats published by the OECD. */
const OECD_ROWS: Readonly<Record<string, Row>> = {
  AD: ['Número de Registre Tributari (NRT)', 'F-123456-Z', '^[A-Z]\\d{6}[A-Z]$'],
  AL: ['NIPT / national ID', 'I12345678A', '^[A-Z]\\d{8}[A-Z]$'],
  AR: ['CUIT / CUIL', '20-05536168-2', digits('11')],
  AU: ['Tax file number (TFN)', '123 456 782', digits('8', '9')],
  AZ: ['VÖEN', '1234567891', digits('10')],
  BR: ['CPF', '111.444.777-35', digits('11')],
  CA: ['Social Insurance Number (SIN)', '046 454 286', digits('9')],
  CH: ['AHV-Nummer / numéro AVS', '756.1234.5678.97', '^756\\d{10}$'],
  CL: ['Rol Único Tributario (RUT)', '12.345.678-5', '^\\d{7,8}[\\dK]$'],
  EC: ['Cédula / RUC', '1714307103', digits('10', '13')],
  GB: ['National Insurance number or UTR', 'QQ 12 34 56 C', '^([A-Z]{2}\\d{6}[A-D]?|\\d{10})$'],
  HK: ['Hong Kong identity card number', 'A123456(3)', '^[A-Z]{1,2}\\d{6}[\\dA]$'],
  ID: ['NPWP / NIK', '3171234567890001', digits('15', '16')],
  IL: ['Identity number', '123456782', digits('9')],
  IN: ['Permanent Account Number (PAN)', 'ABCPE1234F', '^[A-Z]{3}P[A-Z]\\d{4}[A-Z]$'],
  IS: ['Kennitala', '120174-3399', digits('10')],
  JP: ['Individual Number (My Number)', '1234 5678 9018', digits('12')],
  KR: ['Resident registration number', '900101-1234567', digits('13')],
  LI: ['Personenidentifikationsnummer (PEID)', '123456789012', '^\\d{1,12}$'],
  MO: ['Identity card number', '1234567(8)', digits('8')],
  MX: ['RFC', 'VECJ880326XXX', '^[A-ZÑ&]{4}\\d{6}[A-Z\\d]{3}$'],
  NO: ['Fødselsnummer / D-nummer', '150859 48421', digits('11')],
  NZ: ['IRD number', '49-091-850', digits('8', '9')],
  RU: ['ИНН', '500100732259', digits('12')],
  SG: ['NRIC, FIN or tax reference number', 'S1234567D', '^[AFGMST]\\d{7}[A-Z]$'],
  TR: ['T.C. kimlik no. / vergi no.', '10000000146', '^([1-9]\\d{10}|\\d{10})$'],
  ZA: ['Tax reference number', '0001339050', '^[01239]\\d{9}$'],
};

/** Formats published by a national authority. */
const NATIONAL_ROWS: Readonly<Record<string, readonly [...Row, authority: string]>> = {
  KE: ['PIN', 'A123456789B', '^A\\d{9}[A-Z]$', 'Kenya Revenue Authority'],
  KZ: ['ЖСН / ИИН', '880131300123', digits('12'), 'State Revenue Committee of Kazakhstan'],
  PH: ['TIN', '123-456-789-000', '^\\d{9}(\\d{3,5})?$', 'Bureau of Internal Revenue, Philippines'],
  RS: ['JMBG', '0101990710006', digits('13'), 'Tax Administration of Serbia'],
  TH: ['เลขประจำตัวผู้เสียภาษี', '1-2345-45678-78-1', digits('10', '13'), 'Thai Revenue Department'],
  UA: ['РНОКПП', '1759013776', digits('10'), 'State Tax Service of Ukraine'],
  VN: ['Mã số thuế', '8001234567', digits('10', '12', '13'), 'Vietnamese Department of Taxation'],
};

/**
 * Countries listed by the OECD whose format varies or has changed. 3 to 30 letters and digits are
 * accepted.
 */
const COUNTRIES_WITHOUT_FORMAT = `AG AW BB BN BZ CK CN CO CR CW DM FO GD GG GH
GI IM JE KN LB LC MH MS MU MY NR NU PA PK SA SC SM SX TT UY VC WS`;

const IRS = 'IRS, list of jurisdictions that do not issue foreign TINs';
const CRS = 'self-certification guidance on the Common Reporting Standard';

/** Countries that issue no number, or only to self-employed persons, with the source. */
const NON_ISSUING_COUNTRIES: Readonly<Record<string, string>> = {
  ...{ AE: OECD, AI: OECD, BH: OECD, BS: OECD, KW: OECD },
  ...{ BM: IRS, KY: IRS, VG: IRS },
  ...{ MC: CRS, OM: CRS, QA: CRS, TC: CRS, VU: CRS },
};

const GENERAL_FIELDS = { name: 'Tax identification number', pattern: ANY_FORMAT };

const sourceOf = (publisher: string, code: string) => `${publisher}: ${countryName(code)}`;

const rowsOf = (rows: Readonly<Record<string, Row>>, publisher: string) =>
  Object.entries(rows).map(([code, [name, example, pattern]]): [string, TaxIdentifier] => [
    code,
    { name, example, pattern, isIssued: true, source: sourceOf(publisher, code) },
  ]);

const RECORDED_IDENTIFIERS = new Map<string, TaxIdentifier>([
  ...rowsOf(EU_ROWS, EU),
  ...rowsOf(OECD_ROWS, OECD),
  ...Object.entries(NATIONAL_ROWS).map(([code, row]): [string, TaxIdentifier] => {
    const [name, example, pattern, source] = row;
    return [code, { name, example, pattern, isIssued: true, source }];
  }),
  ...COUNTRIES_WITHOUT_FORMAT.split(/\s/).map((code): [string, TaxIdentifier] => [
    code,
    { ...GENERAL_FIELDS, isIssued: true, source: sourceOf(OECD, code) },
  ]),
  ...Object.entries(NON_ISSUING_COUNTRIES).map(([code, source]): [string, TaxIdentifier] => [
    code,
    { ...GENERAL_FIELDS, isIssued: false, source: sourceOf(source, code) },
  ]),
]);

const UNRECORDED_IDENTIFIER: TaxIdentifier = {
  ...GENERAL_FIELDS,
  isIssued: true,
  source: 'none recorded',
};

/** Tax identifiers by country code, without the United States and its territories. */
export const TAX_IDENTIFIERS: ReadonlyMap<string, TaxIdentifier> = new Map(
  COUNTRY_CODES.filter((code) => !US_TERRITORIES.includes(code)).map((code) => [
    code,
    RECORDED_IDENTIFIERS.get(ISSUING_COUNTRY[code] ?? code) ?? UNRECORDED_IDENTIFIER,
  ]),
);

/** Whether residents of this country have US tax identifiers. */
export const usesUsTaxIdentifiers = (country: unknown): boolean =>
  typeof country === 'string' && US_TERRITORIES.includes(country);

export const compactTaxIdentifier = (text: string): string =>
  text.toUpperCase().replaceAll(SEPARATORS, '');

const PATTERNS = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const pattern = PATTERNS.get(source) ?? new RegExp(source, 'u');
  PATTERNS.set(source, pattern);
  return pattern;
}

/** Whether a number has the format of its country. */
export function hasTaxIdentifierFormat(country: string, text: string): boolean {
  const { pattern } = TAX_IDENTIFIERS.get(country) ?? UNRECORDED_IDENTIFIER;
  return patternOf(pattern).test(compactTaxIdentifier(text));
}

/**
 * False if a number has the format of its country but invalid check digits. True for a number in
 * another format and for a country without check digits.
 */
export function hasValidCheckDigits(country: string, text: string): boolean {
  if (!hasTaxIdentifierFormat(country, text)) return true;
  const check = TAX_IDENTIFIER_CHECKS[ISSUING_COUNTRY[country] ?? country];
  return check?.(compactTaxIdentifier(text)) ?? true;
}

/** Required tax identifier: of the United States, of another country, or none. */
type RequiredTaxIdentifier = 'US' | 'NATIONAL' | 'NONE';

/**
 * Citizens and residents of the United States need a US identifier. For other persons the country
 * of residence applies, because it issues the number. While the residence is unknown, the country
 * of citizenship applies.
 */
export function requiredTaxIdentifier(person: {
  nationality?: unknown;
  residence?: unknown;
}): RequiredTaxIdentifier {
  const { nationality, residence } = person;
  if (usesUsTaxIdentifiers(nationality) || usesUsTaxIdentifiers(residence)) return 'US';
  const country = residence ?? nationality;
  const row = typeof country === 'string' ? TAX_IDENTIFIERS.get(country) : undefined;
  return row && !row.isIssued ? 'NONE' : 'NATIONAL';
}
