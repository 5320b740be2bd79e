// Fields of account details. A field has its schema, the normalization of its value for duplicate
// detection, and the check digits that production requires. Account types select their fields from
// this file, so each field is defined once.
import type { TSchema } from '@sinclair/typebox';
import { oneOf, text } from '../../kernel/schema.ts';
import { isAbaRouting, isBrazilianTaxId, isClabe, isIban } from './checks.ts';

interface Check {
  readonly isValid: (value: string) => boolean;
  /** Message if the value is invalid. */
  readonly message: string;
}

export interface Field {
  readonly schema: TSchema;
  /**
   * Whether the schema allows the absence of the field. A payment path may still require the field.
   */
  readonly optional: boolean;
  /** Whether the field identifies the account, for duplicate detection. */
  readonly identifies: boolean;
  /** Whether the value is masked for a token without permission to pay. */
  readonly sensitive: boolean;
  /** Maps spelling variants of a value to one text. */
  readonly normalize: (value: string) => string;
  /** Validation in production only. */
  readonly check?: Check;
}

const toCompactUpperCase = (value: string) => value.replace(/[\s-]/g, '').toUpperCase();
const lowerCase = (value: string) => value.trim().toLowerCase();
const lowerCaseText = (value: string) =>
  value.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();

function field(schema: TSchema, overrides: Partial<Field> = {}): Field {
  return {
    schema,
    optional: false,
    identifies: true,
    sensitive: false,
    normalize: toCompactUpperCase,
    ...overrides,
  };
}

const exactLength = (length: number) => ({ minLength: length, maxLength: length });

/** A field that is optional in the schema. */
export const optional = (field: Field): Field => ({ ...field, optional: true });

/** A field that duplicate detection ignores. */
export const nonIdentifyingField = (field: Field): Field => ({ ...field, identifies: false });

const IBAN_CHECK: Check = { isValid: isIban, message: 'must be an IBAN with valid check digits' };
const ABA_CHECK: Check = {
  isValid: isAbaRouting,
  message: 'must be a routing number with a valid check digit',
};

/** An IBAN of any country, or of one whose IBANs have `digits` digits after the country code. */
export function iban(country?: string, digits = 0): Field {
  const shape = country
    ? { ...exactLength(digits + 2), pattern: `^${country}[0-9]{${digits}}$` }
    : { minLength: 15, maxLength: 34, pattern: '^[A-Z]{2}[0-9]{2}[A-Za-z0-9]{11,30}$' };
  const schema = text('IBAN without spaces.', shape);
  return field(schema, { sensitive: true, check: IBAN_CHECK });
}

export const pakistaniIban: Field = field(
  text('IBAN without spaces, 24 characters.', {
    ...exactLength(24),
    pattern: '^PK[0-9]{2}[A-Z]{4}[0-9]{16}$',
  }),
  { sensitive: true, check: IBAN_CHECK },
);

/** An account number of `min` to `max` digits. Without `min`, any text of 1 to 34 characters. */
export function accountNumber(min?: number, max = min): Field {
  const digits = min === max ? `${min}` : `${min},${max}`;
  const shape = min
    ? { minLength: min, maxLength: max, pattern: `^[0-9]{${digits}}$` }
    : { minLength: 1, maxLength: 34 };
  return field(text('Bank account number.', shape), { sensitive: true });
}

/** A code of exactly `length` digits. */
export const code = (description: string, length: number): Field =>
  field(text(description, { ...exactLength(length), pattern: `^[0-9]{${length}}$` }));

export const routingNumber: Field = {
  ...code('ABA routing number, 9 digits.', 9),
  check: ABA_CHECK,
};

export const intermediaryRoutingNumber: Field = {
  ...code('ABA routing number of the intermediary bank, 9 digits. Used only for wires.', 9),
  check: ABA_CHECK,
};

export const bic: Field = field(
  text('BIC (SWIFT code) of the bank, 8 or 11 characters.', {
    minLength: 8,
    maxLength: 11,
    pattern: '^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$',
  }),
  // The branch code XXX and the absence of a branch code both denote the head office.
  { normalize: (value) => toCompactUpperCase(value).replace(/^(.{8})XXX$/, '$1') },
);

export const bankName: Field = field(
  text(
    'Name of the bank. In production, the name must be in the list of `getDiscoveries` for the ' +
      'country, unless that list is empty. `SWIFT_ACCOUNT` accepts any name.',
    { minLength: 1, maxLength: 255 },
  ),
  { normalize: lowerCaseText },
);

export const provider: Field = field(
  text('Mobile money operator of the wallet.', { minLength: 1, maxLength: 255 }),
  { normalize: lowerCaseText },
);

export const name140 = (description: string): Field =>
  field(text(description, { minLength: 1, maxLength: 140 }), {
    identifies: false,
    normalize: lowerCaseText,
  });

export const note210 = (description: string): Field =>
  field(text(description, { maxLength: 210 }), { identifies: false, normalize: lowerCaseText });

/** A phone number with country calling code. `pattern` restricts it to one country. */
export const phone = (pattern = '^\\+[0-9]{6,14}$'): Field =>
  field(
    text('Phone number of the mobile wallet or account, with + and country calling code.', {
      minLength: 7,
      maxLength: 15,
      pattern,
    }),
    { sensitive: true, normalize: (value) => value.replace(/[^0-9+]/g, '') },
  );

export const bankAccountType: Field = field(
  oneOf(['CHECKING', 'SAVINGS'], { description: 'Type of the bank account.' }),
  { identifies: false },
);

export const clabe: Field = field(
  text('CLABE, 18 digits.', { ...exactLength(18), pattern: '^[0-9]{18}$' }),
  {
    sensitive: true,
    check: { isValid: isClabe, message: 'must be a CLABE with a valid check digit' },
  },
);

export const ifsc: Field = field(
  text('IFSC of the bank branch, 11 characters.', {
    ...exactLength(11),
    pattern: '^[A-Z]{4}0[A-Z0-9]{6}$',
  }),
);

export const vpa: Field = field(
  text('UPI virtual payment address, `user@handle`.', {
    minLength: 3,
    maxLength: 255,
    pattern: '^[a-zA-Z0-9.\\-_]+@[a-zA-Z0-9]+$',
  }),
  { sensitive: true, normalize: lowerCase },
);

export const pixKey: Field = field(
  text('PIX key in the format of `pixKeyType`.', { minLength: 1, maxLength: 77 }),
  {
    sensitive: true,
    normalize: (key) =>
      key.includes('@') ? lowerCase(key) : toCompactUpperCase(key).replace(/[./]/g, ''),
  },
);

export const pixKeyType: Field = field(
  oneOf(['CPF', 'CNPJ', 'EMAIL', 'PHONE', 'RANDOM'], {
    description: 'Type of the PIX key.',
  }),
  { identifies: false },
);

export const brazilianTaxId: Field = field(
  text('CPF (11 digits) or CNPJ (14 digits) of the account holder.', {
    minLength: 11,
    maxLength: 14,
    pattern: '^[0-9]{11,14}$',
  }),
  {
    identifies: false,
    sensitive: true,
    check: {
      isValid: isBrazilianTaxId,
      message: 'must be a CPF or CNPJ with valid check digits',
    },
  },
);

/** A country code. `values` restricts it to these countries. */
export const country = (description: string, values?: readonly string[]): Field =>
  field(
    values
      ? oneOf(values, { description })
      : text(description, { ...exactLength(2), pattern: '^[A-Z]{2}$' }),
  );

/** One of `values`, ignored by duplicate detection. */
export const choice = (description: string, values: readonly string[]): Field =>
  field(oneOf(values, { description }), { identifies: false });

/** A blockchain address. */
export const address = (description: string, normalize: Field['normalize']): Field =>
  field(text(description, { minLength: 1, maxLength: 512 }), { normalize });

/** A Lightning destination. All of its kinds are case-insensitive. */
export const lightningDestination = (description: string, maxLength: number): Field =>
  optional(field(text(description, { minLength: 1, maxLength }), { normalize: lowerCase }));
