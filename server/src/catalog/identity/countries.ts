// Countries by ISO 3166-1 alpha-2 code. The file also lists the countries that require strong
// customer authentication, the countries without postal codes, and the length of IBANs. The lengths
// are from the SWIFT IBAN registry, release 99 plus later entries.

/** Countries that require strong customer authentication: the EU and the other EEA states. */
const SCA_COUNTRIES =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO';

export const scaRegion: ReadonlySet<string> = new Set(SCA_COUNTRIES.split(' '));

const NAMES = `AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AI Anguilla
AL Albania|AM Armenia|AO Angola|AQ Antarctica|AR Argentina|AS American Samoa|AT Austria
AU Australia|AW Aruba|AX Åland Islands|AZ Azerbaijan|BA Bosnia and Herzegovina|BB Barbados
BD Bangladesh|BE Belgium|BF Burkina Faso|BG Bulgaria|BH Bahrain|BI Burundi|BJ Benin
BL Saint Barthélemy|BM Bermuda|BN Brunei|BO Bolivia|BQ Caribbean Netherlands|BR Brazil|BS Bahamas
BT Bhutan|BV Bouvet Island|BW Botswana|BY Belarus|BZ Belize|CA Canada|CC Cocos (Keeling) Islands
CD Democratic Republic of the Congo|CF Central African Republic|CG Republic of the Congo
CH Switzerland|CI Côte d’Ivoire|CK Cook Islands|CL Chile|CM Cameroon|CN China|CO Colombia
CR Costa Rica|CU Cuba|CV Cabo Verde|CW Curaçao|CX Christmas Island|CY Cyprus|CZ Czechia
DE Germany|DJ Djibouti|DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador
EE Estonia|EG Egypt|EH Western Sahara|ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji
FK Falkland Islands|FM Micronesia|FO Faroe Islands|FR France|GA Gabon|GB United Kingdom
GD Grenada|GE Georgia|GF French Guiana|GG Guernsey|GH Ghana|GI Gibraltar|GL Greenland|GM Gambia
GN Guinea|GP Guadeloupe|GQ Equatorial Guinea|GR Greece
GS South Georgia and the South Sandwich Islands|GT Guatemala|GU Guam|GW Guinea-Bissau|GY Guyana
HK Hong Kong|HM Heard Island and McDonald Islands|HN Honduras|HR Croatia|HT Haiti|HU Hungary
ID Indonesia|IE Ireland|IL Israel|IM Isle of Man|IN India|IO British Indian Ocean Territory
IQ Iraq|IR Iran|IS Iceland|IT Italy|JE Jersey|JM Jamaica|JO Jordan|JP Japan|KE Kenya
KG Kyrgyzstan|KH Cambodia|KI Kiribati|KM Comoros|KN Saint Kitts and Nevis|KP North Korea
KR South Korea|KW Kuwait|KY Cayman Islands|KZ Kazakhstan|LA Laos|LB Lebanon|LC Saint Lucia
LI Liechtenstein|LK Sri Lanka|LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya
MA Morocco|MC Monaco|MD Moldova|ME Montenegro|MF Saint Martin|MG Madagascar|MH Marshall Islands
MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia|MO Macao|MP Northern Mariana Islands
MQ Martinique|MR Mauritania|MS Montserrat|MT Malta|MU Mauritius|MV Maldives|MW Malawi|MX Mexico
MY Malaysia|MZ Mozambique|NA Namibia|NC New Caledonia|NE Niger|NF Norfolk Island|NG Nigeria
NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NR Nauru|NU Niue|NZ New Zealand|OM Oman|PA Panama
PE Peru|PF French Polynesia|PG Papua New Guinea|PH Philippines|PK Pakistan|PL Poland
PM Saint Pierre and Miquelon|PN Pitcairn|PR Puerto Rico|PS Palestine|PT Portugal|PW Palau
PY Paraguay|QA Qatar|RE Réunion|RO Romania|RS Serbia|RU Russia|RW Rwanda|SA Saudi Arabia
SB Solomon Islands|SC Seychelles|SD Sudan|SE Sweden|SG Singapore|SH Saint Helena|SI Slovenia
SJ Svalbard and Jan Mayen|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal|SO Somalia
SR Suriname|SS South Sudan|ST São Tomé and Príncipe|SV El Salvador|SX Sint Maarten|SY Syria
SZ Eswatini|TC Turks and Caicos Islands|TD Chad|TF French Southern Territories|TG Togo
TH Thailand|TJ Tajikistan|TK Tokelau|TL Timor-Leste|TM Turkmenistan|TN Tunisia|TO Tonga
TR Türkiye|TT Trinidad and Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine|UG Uganda
UM United States Minor Outlying Islands|US United States|UY Uruguay|UZ Uzbekistan|VA Vatican City
VC Saint Vincent and the Grenadines|VE Venezuela|VG British Virgin Islands
VI United States Virgin Islands|VN Vietnam|VU Vanuatu|WF Wallis and Futuna|WS Samoa|YE Yemen
YT Mayotte|ZA South Africa|ZM Zambia|ZW Zimbabwe`;

const COUNTRY_NAMES: ReadonlyMap<string, string> = new Map(
  NAMES.split(/[|\n]/).map((entry) => [entry.slice(0, 2), entry.slice(3)]),
);

export const COUNTRY_CODES: readonly string[] = [...COUNTRY_NAMES.keys()];

export const isCountry = (code: string): boolean => COUNTRY_NAMES.has(code);

/** English short name. Undefined for an unknown code. */
export const countryName = (code: string): string | undefined => COUNTRY_NAMES.get(code);

// Universal Postal Union, Universal POST*CODE DataBase: countries without a postcode system.
// Countries that have since announced postcodes, such as CD, GH and MW, are excluded.
const WITHOUT_POSTAL_CODES = `AE AG AO AW BF BI BJ BO BQ BS BW BZ CF CG CI CK CM CW DJ DM ER FJ
GA GD GM GQ GY HK JM KM KP ML MO NU QA RW SB SC SL SR ST SX SY TD TG TK TO TV UG VU YE ZW`;

/** Countries whose addresses have no postal code. */
export const withoutPostalCodes: ReadonlySet<string> = new Set(WITHOUT_POSTAL_CODES.split(/\s+/));

const LENGTHS = `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24
DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28
IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19
MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18
SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`;

const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  LENGTHS.split(/\s+/).map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Length of an IBAN of this country. Undefined for a country without IBANs. */
export const ibanLength = (country: string): number | undefined => IBAN_LENGTHS.get(country);
