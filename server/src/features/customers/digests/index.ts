// Keyed hashes of what somebody is looked for by: e-mail address, telephone number, identity number. They
// stand beside the sealed data and find equal values; nobody reads a value out of one, or tries values
// against one without the master key. Different ways to write one value give the same hash.
import type { Vault } from '../../../runtime/security/vault.ts';

/** What can be looked for. */
export const SOUGHT = ['email', 'phone', 'identifier'] as const;
export type Sought = (typeof SOUGHT)[number];

const NORMAL: Readonly<Record<Sought, (value: string) => string>> = {
  email: (value) => value.trim().toLowerCase(),
  phone: (value) => value.replaceAll(/\D/g, ''),
  identifier: (value) => value.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase(),
};

/** The hash that a value is found by; null where there is nothing to look for. */
export function digestOf(
  vault: Vault,
  what: Sought,
  value: string | null | undefined,
): string | null {
  const normal = NORMAL[what](value ?? '');
  return normal === '' ? null : vault.digest(what, normal);
}

/** The columns of a row that is found by these values; all null without them. */
export const digestsOf = (
  vault: Vault,
  known: Readonly<Partial<Record<Sought, string | null | undefined>>> = {},
) => ({
  email_digest: digestOf(vault, 'email', known.email),
  phone_digest: digestOf(vault, 'phone', known.phone),
  identifier_digest: digestOf(vault, 'identifier', known.identifier),
});
