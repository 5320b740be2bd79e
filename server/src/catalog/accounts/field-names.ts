// Names of counterparty fields that a platform can require. The same names are keys of the
// counterparty information in a quote or a transaction.
import { type Static, Type } from '@sinclair/typebox';
import { named, oneOf } from '../../kernel/schema.ts';

export const COUNTERPARTY_FIELDS = [
  'FULL_NAME',
  'BIRTH_DATE',
  'NATIONALITY',
  'PHONE_NUMBER',
  'EMAIL',
  'POSTAL_ADDRESS',
  'TAX_ID',
  'REGISTRATION_NUMBER',
  'USER_TYPE',
  'COUNTRY_OF_RESIDENCE',
  'ACCOUNT_IDENTIFIER',
  'FI_LEGAL_ENTITY_NAME',
  'FI_ADDRESS',
  'PURPOSE_OF_PAYMENT',
  'ULTIMATE_INSTITUTION_COUNTRY',
  'IDENTIFIER',
  'BUSINESS_TYPE',
  'COMPANY_LEGAL_NAME',
  'ID_TYPE',
  'ID_NUMBER',
] as const;

export type CounterpartyFieldName = (typeof COUNTERPARTY_FIELDS)[number];

/**
 * Values of counterparty fields of an individual or a business. Missing values are absent or
 * undefined.
 */
export type Facts = Partial<Record<CounterpartyFieldName, unknown>>;

export const CounterpartyFieldName = named(
  'CounterpartyFieldName',
  oneOf(COUNTERPARTY_FIELDS, {
    description:
      'Name of a counterparty field. FI is the financial institution of the counterparty.',
  }),
);

export const CounterpartyFieldDefinition = named(
  'CounterpartyFieldDefinition',
  Type.Object(
    {
      name: CounterpartyFieldName,
      mandatory: Type.Boolean({ description: 'Whether payments are rejected without the field.' }),
    },
    { description: 'Requirement for a counterparty field.' },
  ),
);
export type CounterpartyFieldDefinition = Static<typeof CounterpartyFieldDefinition>;

export const CounterpartyInformation = named(
  'CounterpartyInformation',
  Type.Record(Type.String(), Type.Unknown(), {
    description:
      'Information about the counterparty, keyed by field name. Absent if there is none.',
  }),
);
