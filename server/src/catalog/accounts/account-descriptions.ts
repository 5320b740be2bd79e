// Titles and descriptions of the account schemas in the API reference, derived from the rows of the
// account-type table. The description names the fields that each rail requires, because a schema with
// optional fields does not show their combinations.
import { currencyOf } from '../currencies/currencies.ts';
import { countryName } from '../identity/countries.ts';
import type { AccountTypeRow } from './account-type-row.ts';

/** Prefix of component names: `UsdAccount` for `USD_ACCOUNT`. */
export const toPascalCase = (type: string): string =>
  type.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Title of the account type in the API reference. */
export function typeTitle(type: string, row: AccountTypeRow): string {
  if (row.kind === 'lightning') return 'Lightning destination';
  if (row.kind === 'wallet') return `${chainName(type)} wallet`;
  if (row.currencies.length === 0) return 'Bank account reached over SWIFT';
  return `${row.kind === 'mobile' ? 'Mobile wallet' : 'Account'} in ${currencyAndCountry(row)}`;
}

/** Network in the name of a wallet type: `Ethereum` for `ETHEREUM_WALLET`. */
const chainName = (type: string) => toPascalCase(type).replace(/Wallet$|L1$/, '');

function currencyAndCountry({ currencies: [currency = ''], country }: AccountTypeRow): string {
  const { name } = currencyOf(currency);
  return country ? `${name}, ${countryName(country)}` : name;
}

const listText = (items: readonly string[], conjunction: 'and' | 'or'): string =>
  items.length < 2
    ? items.join('')
    : `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1)}`;

const codeText = (names: readonly string[], conjunction: 'and' | 'or' = 'and'): string =>
  listText(
    names.map((name) => `\`${name}\``),
    conjunction,
  );

/** The account or wallet as a noun phrase, without an article. */
function nounPhrase(row: AccountTypeRow): string {
  const hasMobileWallets = row.kind === 'bank' && row.rails.includes('MOBILE_MONEY');
  const bankText = hasMobileWallets ? 'bank account or mobile wallet' : 'bank account';
  if (row.currencies.length === 0) return `${bankText} in any fiat currency, reached over SWIFT`;
  return `${row.kind === 'mobile' ? 'mobile wallet' : bankText} in ${currencyAndCountry(row)}`;
}

/** The fields that each rail requires, one sentence for each set of rails. */
function requiredFieldsText({ fields, paths }: AccountTypeRow): string {
  const mandatoryFields = Object.keys(fields).filter((name) => !fields[name]?.optional);
  const fieldsByRails = new Map<string, string[]>();
  for (const { rails, requiredFields } of paths) {
    const railsText = codeText(rails, 'or');
    const alternatives = fieldsByRails.get(railsText) ?? [];
    const names = [...new Set([...requiredFields, ...mandatoryFields])];
    fieldsByRails.set(railsText, [...alternatives, codeText(names)]);
  }
  return [...fieldsByRails]
    .map(([rails, alternatives]) => `Payments over ${rails} require ${alternatives.join(', or ')}.`)
    .join(' ');
}

function maskedFieldsText({ fields }: AccountTypeRow): string {
  const names = Object.keys(fields).filter((name) => fields[name]?.sensitive);
  if (names.length === 0) return '';
  const verb = names.length > 1 ? 'are' : 'is';
  return (
    ` For a token with only the VIEW permission, ${codeText(names)} ${verb} masked except for ` +
    'the last four characters.'
  );
}

/** Description of the details of an external account, in requests or in responses. */
export function accountDescription(type: string, row: AccountTypeRow, isResponse: boolean): string {
  const currencies = listText(row.currencies, 'or');
  if (row.kind === 'lightning') {
    const destinations = codeText(Object.keys(row.fields));
    return `Lightning destination that receives ${currencies}. Exactly one of ${destinations} is present.`;
  }
  if (row.kind === 'wallet') {
    return `Wallet on ${chainName(type)} that receives ${currencies} at \`address\`.`;
  }
  const account = `${isResponse ? 'Stored details' : 'Details'} of a ${nounPhrase(row)}.`;
  return `${account} ${requiredFieldsText(row)}${isResponse ? maskedFieldsText(row) : ''}`;
}

/** Description of the account or address to which a payer sends funds. */
export function payInDescription(type: string, row: AccountTypeRow, hasReference: boolean): string {
  if (row.kind === 'wallet') {
    return `Address on ${chainName(type)} to which the payer sends ${listText(row.currencies, 'or')}.`;
  }
  const noun = nounPhrase(row);
  const account = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const referenceText = hasReference ? ' The transfer must include `reference`.' : '';
  return `${account}, to which the payer sends the funds over ${codeText(row.rails, 'or')}.${referenceText}`;
}

/** Description of an individual beneficiary with required or further fields of the account type. */
export function beneficiaryDescription({ individual = {}, ...row }: AccountTypeRow): string {
  const { required: requiredFields = [], extra: additionalFields = {} } = individual;
  const owner = `Individual who owns an account in ${currencyAndCountry(row)}.`;
  const requiredText = requiredFields.length
    ? ` In addition to the name, ${codeText(requiredFields)} ${
        requiredFields.length > 1 ? 'are' : 'is'
      } required.`
    : '';
  const additionalNames = Object.keys(additionalFields);
  const additionalText = additionalNames.length
    ? ` Optional further ${additionalNames.length > 1 ? 'fields' : 'field'}: ${codeText(additionalNames)}.`
    : '';
  return `${owner}${requiredText}${additionalText}`;
}
