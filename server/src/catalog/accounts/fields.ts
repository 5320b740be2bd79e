// The fields of account details: schema, canonical spelling for comparison, and check digits for
// production. Rows of account types refer to them, so each rule is defined once.
import { type TSchema, Type } from '@sinclair/typebox';
import { oneOf } from '../../kernel/schema.ts';
import { isAbaRouting, isBrazilianTaxId, isClabe, isIban } from './checks.ts';

interface Check {
  readonly holds: (value: string) => boolean;
  /** Message if the value is invalid. */
  readonly message: string;
}

export interface Field {
  readonly schema: TSchema;
  /** Whether the schema permits its absence; a payment path may still require it. */
  readonly optional: boolean;
  /** Whether it identifies the account, as opposed to how it is paid. */
  readonly identifies: boolean;
  /** Masked for read-only callers. */
  readonly secret: boolean;
  /** Canonical spelling of a value. */
  readonly normalise: (value: string) => string;
  /** Additional validation in production. */
  readonly check?: Check;
}

const compact = (value: string) => value.replace(/[\s-]/g, '').toUpperCase();
const lower = (value: string) => value.trim().toLowerCase();
const words = (value: string) => value.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();

function field(schema: TSchema, more: Partial<Field> = {}): Field {
  return {
    schema,
    optional: false,
    identifies: true,
    secret: false,
    normalise: compact,
    ...more,
  };
}

const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });

const fixed = (length: number) => ({ minLength: length, maxLength: length });

/** The same field, optional in the schema. */
export const opt = (one: Field): Field => ({ ...one, optional: true });

/** The same field, not part of the account's identity. */
export const aside = (one: Field): Field => ({ ...one, identifies: false });

const IBAN_CHECK: Check = { holds: isIban, message: 'must be an IBAN with valid check digits' };
const ABA_CHECK: Check = {
  holds: isAbaRouting,
  message: 'must be a routing number with a valid check digit',
};

/** An IBAN of any country, or with `digits` digits after the country code. */
export function iban(country?: string, digits = 0): Field {
  const shape = country
    ? { ...fixed(digits + 2), pattern: `^${country}[0-9]{${digits}}$` }
    : { minLength: 15, maxLength: 34, pattern: '^[A-Z]{2}[0-9]{2}[A-Za-z0-9]{11,30}$' };
  const schema = text('IBAN without spaces.', shape);
  return field(schema, { secret: true, check: IBAN_CHECK });
}

export const pakistaniIban: Field = field(
  text('IBAN without spaces, 24 characters.', {
    ...fixed(24),
    pattern: '^PK[0-9]{2}[A-Z]{4}[0-9]{16}$',
  }),
  { secret: true, check: IBAN_CHECK },
);

/** An account number: any text of 1 to 34, or `min` to `max` digits. */
export function accountNumber(min?: number, max = min): Field {
  const digits = min === max ? `${min}` : `${min},${max}`;
  const shape = min
    ? { minLength: min, maxLength: max, pattern: `^[0-9]{${digits}}$` }
    : { minLength: 1, maxLength: 34 };
  return field(text('Bank account number.', shape), { secret: true });
}

/** A code of exactly `length` digits. */
export const code = (description: string, length: number): Field =>
  field(text(description, { ...fixed(length), pattern: `^[0-9]{${length}}$` }));

export const routingNumber: Field = {
  ...code('ABA routing number, 9 digits.', 9),
  check: ABA_CHECK,
};

export const bic: Field = field(
  text('BIC (SWIFT code) of the bank, 8 or 11 characters.', {
    minLength: 8,
    maxLength: 11,
    pattern: '^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$',
  }),
  // XXX is the head office, like an absent branch code.
  { normalise: (value) => compact(value).replace(/^(.{8})XXX$/, '$1') },
);

export const bankName: Field = field(
  text('Name of the bank, as `getDiscoveries` lists it for the country.', {
    minLength: 1,
    maxLength: 255,
  }),
  { normalise: words },
);

export const provider: Field = field(
  text('Mobile money operator of the wallet.', { minLength: 1, maxLength: 255 }),
  { normalise: words },
);

export const name140 = (description: string): Field =>
  field(text(description, { minLength: 1, maxLength: 140 }), {
    identifies: false,
    normalise: words,
  });

export const note210 = (description: string): Field =>
  field(text(description, { maxLength: 210 }), { identifies: false, normalise: words });

/** A telephone number with country code; `pattern` restricts it to one country. */
export const phone = (pattern = '^\\+[0-9]{6,14}$'): Field =>
  field(
    text('Phone number of the mobile wallet with + and country calling code.', {
      minLength: 7,
      maxLength: 15,
      pattern,
    }),
    { secret: true, normalise: (value) => value.replace(/[^0-9+]/g, '') },
  );

export const bankAccountType: Field = field(
  oneOf(['CHECKING', 'SAVINGS'], { description: 'Type of the bank account.' }),
  { identifies: false },
);

export const clabe: Field = field(
  text('CLABE, 18 digits.', { ...fixed(18), pattern: '^[0-9]{18}$' }),
  {
    secret: true,
    check: { holds: isClabe, message: 'must be a CLABE with a valid check digit' },
  },
);

export const ifsc: Field = field(
  text('IFSC of the bank branch, 11 characters.', {
    ...fixed(11),
    pattern: '^[A-Z]{4}0[A-Z0-9]{6}$',
  }),
);

export const vpa: Field = field(
  text('UPI virtual payment address, `user@handle`.', {
    minLength: 3,
    maxLength: 255,
    pattern: '^[a-zA-Z0-9.\\-_]+@[a-zA-Z0-9]+$',
  }),
  { secret: true, normalise: lower },
);

export const pixKey: Field = field(
  text('PIX key in the format of `pixKeyType`.', { minLength: 1, maxLength: 77 }),
  {
    secret: true,
    normalise: (key) => (key.includes('@') ? lower(key) : compact(key).replace(/[./]/g, '')),
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
    secret: true,
    check: {
      holds: isBrazilianTaxId,
      message: 'must be a CPF or CNPJ with valid check digits',
    },
  },
);

/** A two-letter country code; one of `values` if given. */
export const country = (description: string, values?: readonly string[]): Field =>
  field(
    values
      ? oneOf(values, { description })
      : text(description, { ...fixed(2), pattern: '^[A-Z]{2}$' }),
  );

/** One of several values, not part of the account's identity. */
export const choice = (description: string, values: readonly string[]): Field =>
  field(oneOf(values, { description }), { identifies: false });

/** An address on a chain; `normalise` returns its canonical spelling. */
export const address = (description: string, normalise: Field['normalise']): Field =>
  field(text(description, { minLength: 1, maxLength: 512 }), { normalise });

/** A Lightning destination; none of the three forms is case-sensitive. */
export const lightning = (description: string, maxLength: number): Field =>
  opt(field(text(description, { minLength: 1, maxLength }), { normalise: lower }));
