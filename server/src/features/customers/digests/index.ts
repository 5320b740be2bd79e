// Keyed hashes of searchable values: e-mail address, telephone number, identity number, names. They
// are stored with the encrypted data for equality search. A hash reveals no value, and testing a
// value requires the master key. Values are normalized, so that different notations have the same
// hash.
import type { Vault } from '../../../runtime/security/vault.ts';
import { normalizeName, wordsOf } from './names.ts';

export { NAME_BATCH, nameSweep } from './name-sweep.ts';

const HASHED_FIELDS = ['email', 'phone', 'identifier'] as const;
type HashedField = (typeof HASHED_FIELDS)[number];

export const SEARCH_FIELDS = [...HASHED_FIELDS, 'name'] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

/** Columns with digests. An export does not contain them. */
export const DIGEST_COLUMNS = [
  'email_digest',
  'phone_digest',
  'identifier_digest',
  'name_digests',
] as const;

const NORMALIZERS: Readonly<Record<HashedField, (value: string) => string>> = {
  email: (value) => value.trim().toLowerCase(),
  phone: (value) => value.replaceAll(/\D/g, ''),
  identifier: (value) => value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase(),
};

/** Search digest of a value, or null for an empty value. */
export function digestOf(
  vault: Vault,
  field: HashedField,
  value: string | null | undefined,
): string | null {
  const normalizedValue = NORMALIZERS[field](value ?? '');
  return normalizedValue === '' ? null : vault.digest(field, normalizedValue);
}

/** 128 bits, so that two names of a server practically never have the same digest. */
const NAME_DIGEST_LENGTH = 32;

const nameDigest = (vault: Vault, kind: 'name' | 'word of a name', value: string) =>
  vault.digest(kind, value).slice(0, NAME_DIGEST_LENGTH);

type Names = readonly (string | null | undefined)[];

/** Digests of each full name and of each word. */
function nameDigestsOf(vault: Vault, names: Names): string[] {
  const fullNames = names.map((each) => normalizeName(each ?? '')).filter(Boolean);
  const digests = fullNames.flatMap((name) => [
    nameDigest(vault, 'name', name),
    ...wordsOf(name).map((word) => nameDigest(vault, 'word of a name', word)),
  ]);
  return [...new Set(digests)];
}

interface SearchValues extends Partial<Record<HashedField, string | null | undefined>> {
  names: Names;
}

/**
 * Digest columns of a row, null for absent values. All are null without `values`, for an erasure.
 */
export const digestsOf = (vault: Vault, values?: Readonly<SearchValues>) => ({
  email_digest: digestOf(vault, 'email', values?.email),
  phone_digest: digestOf(vault, 'phone', values?.phone),
  identifier_digest: digestOf(vault, 'identifier', values?.identifier),
  name_digests: values ? nameDigestsOf(vault, values.names) : null,
});

/** Column and digest with which a value is searched. */
export interface SearchDigest {
  /** Column with the digests. */
  column: (typeof DIGEST_COLUMNS)[number];
  /** Digest of the value. For names, the digests of all words. Null for an empty value. */
  digest: string | string[] | null;
  /** Digest of the full name. Null for other fields. */
  fullNameDigest: string | null;
}

/** The digests to search for. A name matches rows with all of its words, in any order. */
export function searchDigestOf(vault: Vault, field: SearchField, value: string): SearchDigest {
  if (field !== 'name') {
    return {
      column: `${field}_digest`,
      digest: digestOf(vault, field, value),
      fullNameDigest: null,
    };
  }
  const name = normalizeName(value);
  const words = wordsOf(name).map((word) => nameDigest(vault, 'word of a name', word));
  return {
    column: 'name_digests',
    digest: words.length ? words : null,
    fullNameDigest: nameDigest(vault, 'name', name),
  };
}
