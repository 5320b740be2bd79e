// Keyed hashes of searchable values: e-mail address, telephone number, identity number. They are stored
// with the encrypted data for equality search; values can be neither read nor tested without the master
// key. Values are normalized, so that different notations have the same hash.
import type { Vault } from '../../../runtime/security/vault.ts';

/** Searchable fields. */
export const SEARCH_FIELDS = ['email', 'phone', 'identifier'] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

const NORMALIZERS: Readonly<Record<SearchField, (value: string) => string>> = {
  email: (value) => value.trim().toLowerCase(),
  phone: (value) => value.replaceAll(/\D/g, ''),
  identifier: (value) => value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase(),
};

/** Search digest of a value, or null for an empty value. */
export function digestOf(
  vault: Vault,
  field: SearchField,
  value: string | null | undefined,
): string | null {
  const normalized = NORMALIZERS[field](value ?? '');
  return normalized === '' ? null : vault.digest(field, normalized);
}

/** Digest columns of a row; null for absent values. */
export const digestsOf = (
  vault: Vault,
  values: Readonly<Partial<Record<SearchField, string | null | undefined>>> = {},
) => ({
  email_digest: digestOf(vault, 'email', values.email),
  phone_digest: digestOf(vault, 'phone', values.phone),
  identifier_digest: digestOf(vault, 'identifier', values.identifier),
});
