// Schemas of account details, derived from the rows of the account types: the input of an external
// account, and its output. The output adds the rails of a bank account and omits patterns, because
// read-only tokens receive masked numbers.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf, variant } from '../../kernel/schema.ts';
import { currencyOf } from '../currencies/currencies.ts';
import { countryName } from '../identity/countries.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { exampleOf } from './account-examples.ts';
import type { AccountTypeRow } from './account-type-row.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES, type AccountType } from './account-types.ts';
import { type Beneficiary, beneficiarySchema } from './beneficiaries.ts';

/** Account details that match a schema: the type, the beneficiary, and the fields of the type. */
export interface AccountInfo {
  accountType: AccountType;
  beneficiary?: Beneficiary;
  vaspName?: string;
  paymentRails?: PaymentRail[];
  [field: string]: unknown;
}

const ExternalAccountType = named(
  'ExternalAccountType',
  oneOf(ACCOUNT_TYPES, { description: 'Type of the external account. It determines the fields.' }),
);

/** `USD_ACCOUNT` as the stem of component names: `UsdAccount`. */
export const pascal = (type: string): string =>
  type.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Description of the type in the API reference. */
export function typeTitle(type: string, row: AccountTypeRow): string {
  if (row.kind === 'lightning') return 'Lightning destination';
  if (row.kind === 'wallet') return `${pascal(type).replace(/Wallet$|L1$/, '')} wallet`;
  const [currency] = row.currencies;
  if (!currency) return 'Bank account reached over SWIFT';
  const place = row.country && countryName(row.country);
  const what = row.kind === 'mobile' ? 'Mobile wallet' : 'Account';
  return `${what} in ${currencyOf(currency).name}${place ? `, ${place}` : ''}`;
}

function withoutPattern(schema: TSchema): TSchema {
  const { pattern: _pattern, ...rest } = schema;
  return rest as TSchema;
}

/** The account fields of a type as object properties. */
export function fieldProperties(row: AccountTypeRow, relaxed = false): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(row.fields).map(([name, field]) => {
      const schema = relaxed ? withoutPattern(field.schema) : field.schema;
      return [name, field.optional ? Type.Optional(schema) : schema];
    }),
  );
}

/** The rails of an account as a required list of those that its type supports. */
export const railsProperty = (row: AccountTypeRow) =>
  Type.Array(oneOf(row.rails), { description: 'Rails that can transfer funds to this account.' });

function ownerProperties(type: AccountType, row: AccountTypeRow): Record<string, TSchema> {
  if (row.kind === 'lightning') return {};
  const beneficiary = beneficiarySchema(row, pascal(type).replace('Account', ''));
  if (row.kind !== 'wallet') return { beneficiary };
  return {
    beneficiary: Type.Optional(beneficiary),
    vaspName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Exchange or custodian that holds the wallet, as returned by `listVasps`. ' +
          'Absent for self-custody wallets.',
      }),
    ),
  };
}

function branch(type: AccountType, answer: boolean): TObject {
  const row = ACCOUNT_TYPE_ROWS[type];
  const banking = row.kind === 'bank' || row.kind === 'mobile';
  const properties = {
    ...fieldProperties(row, answer),
    ...(answer && banking ? { paymentRails: railsProperty(row) } : {}),
    ...ownerProperties(type, row),
  };
  // Input and output of wallet details are equal and share one component.
  const suffix = answer || !banking ? 'Info' : 'Input';
  const shown = answer && banking ? {} : { examples: [exampleOf(type)] };
  const schema = Type.Object(properties, { title: typeTitle(type, row), ...shown });
  return named(`${pascal(type)}${suffix}`, schema);
}

function union(answer: boolean, description: string) {
  const branches = Object.fromEntries(ACCOUNT_TYPES.map((type) => [type, branch(type, answer)]));
  return Type.Unsafe<AccountInfo>(
    variant('accountType', branches, { tagType: ExternalAccountType, description }),
  );
}

/** Account details as input; rails are derived. */
export const accountInfoCreateSchema = named(
  'ExternalAccountInput',
  union(false, 'Account details. `accountType` determines the fields.'),
);

/** Account details as output; bank accounts and mobile wallets list their rails. */
export const accountInfoSchema = named(
  'ExternalAccountInfo',
  union(true, 'Account details. `accountType` determines the fields.'),
);
