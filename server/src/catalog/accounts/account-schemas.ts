// Request and response schemas of account details, derived from the rows of the account-type table.
// The response schema adds the rails of bank accounts and mobile wallets. Its account fields have
// no patterns, because the response to a read-only token contains masked numbers.
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { named, oneOf, variant } from '../../kernel/schema.ts';
import type { PaymentRail } from '../rails/rails.ts';
import { accountDescription, toPascalCase, typeTitle } from './account-descriptions.ts';
import { exampleOf } from './account-examples.ts';
import type { AccountTypeRow } from './account-type-row.ts';
import { ACCOUNT_TYPE_ROWS, ACCOUNT_TYPES, type AccountType } from './account-types.ts';
import { type Beneficiary, beneficiarySchema } from './beneficiaries.ts';

/** Account details that conform to their schema: type, beneficiary and the fields of the type. */
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

function omitPattern(schema: TSchema): TSchema {
  const { pattern: _pattern, ...schemaWithoutPattern } = schema;
  return schemaWithoutPattern as TSchema;
}

/** Account fields of a type as object properties. */
export function fieldProperties(
  row: AccountTypeRow,
  withoutPatterns = false,
): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(row.fields).map(([name, field]) => {
      const schema = withoutPatterns ? omitPattern(field.schema) : field.schema;
      return [name, field.optional ? Type.Optional(schema) : schema];
    }),
  );
}

/** Required list of the rails of an account, with the rails of its type as values. */
export const railsProperty = (row: AccountTypeRow) =>
  Type.Array(oneOf(row.rails), { description: 'Rails that can transfer funds to this account.' });

function ownerProperties(type: AccountType, row: AccountTypeRow): Record<string, TSchema> {
  if (row.kind === 'lightning') return {};
  const beneficiary = beneficiarySchema(row, toPascalCase(type).replace('Account', ''));
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

function branch(type: AccountType, isResponse: boolean): TObject {
  const row = ACCOUNT_TYPE_ROWS[type];
  const hasRails = row.kind === 'bank' || row.kind === 'mobile';
  const properties = {
    ...fieldProperties(row, isResponse),
    ...(isResponse && hasRails ? { paymentRails: railsProperty(row) } : {}),
    ...ownerProperties(type, row),
  };
  // Without rails, request and response have the same schema and share one component.
  const suffix = isResponse || !hasRails ? 'Info' : 'Input';
  const example = isResponse && hasRails ? {} : { examples: [exampleOf(type)] };
  const schema = Type.Object(properties, {
    title: typeTitle(type, row),
    description: accountDescription(type, row, isResponse),
    ...example,
  });
  return named(`${toPascalCase(type)}${suffix}`, schema);
}

function union(isResponse: boolean, description: string) {
  const branches = Object.fromEntries(
    ACCOUNT_TYPES.map((type) => [type, branch(type, isResponse)]),
  );
  return Type.Unsafe<AccountInfo>(
    variant('accountType', branches, { tagType: ExternalAccountType, description }),
  );
}

/** Account details in a request. The server derives the rails. */
export const accountInfoCreateSchema = named(
  'ExternalAccountInput',
  union(false, 'Account details. `accountType` determines the fields.'),
);

/** Account details in a response. Bank accounts and mobile wallets include their rails. */
export const accountInfoSchema = named(
  'ExternalAccountInfo',
  union(true, 'Account details. `accountType` determines the fields.'),
);
