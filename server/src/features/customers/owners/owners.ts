// Beneficial owners as rows and as API resources. Their personal data is encrypted with the data
// key of the business.

import type { Static } from '@sinclair/typebox';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { digestsOf } from '../digests/index.ts';
import type { BeneficialOwner, OwnerPersonal } from '../profiles/index.ts';
import {
  type CheckTransition,
  type CustomerRow,
  customerFeature,
  dataKeyOf,
  isFinal,
} from '../records/index.ts';

type OwnerView = Static<typeof BeneficialOwner>;
export type OwnerRole = OwnerView['roles'][number];

const checks = customerFeature.states.check;

export const beneficialOwners = table(
  'beneficial_owners',
  {
    id: col.text,
    platform_id: col.text,
    /** Identifier of the business. */
    customer_id: col.text,
    roles: col.json<OwnerRole[]>().mut,
    /** Ownership share in percent. */
    share: col.int4.mut,
    status: col.enum<CustomerRow['status']>().mut,
    /** `OwnerPersonal`, encrypted, or null after erasure. */
    personal: col.text.null.mut,
    /** Keyed hashes by which an operator finds owners. */
    email_digest: col.text.null.mut,
    phone_digest: col.text.null.mut,
    identifier_digest: col.text.null.mut,
    name_digests: col.enums<string>().null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lifecycles: [{ state: (row) => row.status, states: checks }] },
);

export type OwnerRow = RowOf<typeof beneficialOwners>;

const contextOf = (id: string) => `beneficial_owners ${id} personal`;

export const sealOwner = (vault: Vault, key: DataKey, id: string, personal: OwnerPersonal) =>
  vault.seal(key, JSON.stringify(personal), contextOf(id));

/** Personal data of an owner, or undefined after erasure. */
export function ownerPersonal(
  vault: Vault,
  business: Pick<CustomerRow, 'id' | 'data_key'>,
  row: Pick<OwnerRow, 'id' | 'personal'>,
): OwnerPersonal | undefined {
  const key = dataKeyOf(business);
  if (!key || row.personal === null) return undefined;
  return JSON.parse(vault.open(key, row.personal, contextOf(row.id)).toString()) as OwnerPersonal;
}

/** Search digests of an owner. */
export function ownerDigests(vault: Vault, person: OwnerPersonal) {
  const { email, phoneNumber: phone, identifier, firstName, middleName, lastName } = person;
  const names = [[firstName, middleName, lastName].filter(Boolean).join(' ')];
  if (middleName) names.push(`${firstName} ${lastName}`);
  return digestsOf(vault, { email, phone, identifier, names });
}

/**
 * Masks an identity number. At most the last four characters, and never more than half, remain
 * visible.
 */
export const maskIdentifier = (identifier: string): string => {
  const visibleCount = Math.min(4, Math.floor(identifier.length / 2));
  const hiddenCount = identifier.length - visibleCount;
  return (
    identifier.slice(0, hiddenCount).replaceAll(/[\p{L}\p{N}]/gu, '*') +
    identifier.slice(hiddenCount)
  );
};

/** Placeholders for the required fields of an erased owner. ZZ is not assigned to any country. */
const ERASED_PERSONAL = {
  firstName: '',
  lastName: '',
  birthDate: '0001-01-01',
  nationality: '',
  address: { line1: '-', postalCode: '-', country: 'ZZ' },
} as const satisfies OwnerPersonal;

/** Shown for a person without an identity number, because the contract requires both fields. */
const NO_NUMBER = { idType: 'NON_US_TAX_ID', identifier: '' } as const;

/** API resource of an owner. Only the last characters of the identity number are visible. */
export function presentOwner(vault: Vault, business: CustomerRow, row: OwnerRow): OwnerView {
  const personal: OwnerPersonal = ownerPersonal(vault, business, row) ?? ERASED_PERSONAL;
  return {
    id: row.id,
    customerId: row.customer_id,
    roles: row.roles,
    ownershipPercentage: row.share,
    personalInfo: {
      ...NO_NUMBER,
      ...personal,
      identifier: maskIdentifier(personal.identifier ?? ''),
    },
    kycStatus: row.status,
    ...timestamps(row),
  };
}

/** Applies a transition to the identity check of an owner. A final status does not change. */
export function transitionOwner(
  ctx: Ctx,
  owner: OwnerRow,
  transition: CheckTransition | undefined,
): OwnerRow {
  const status =
    isFinal(owner) || !transition ? owner.status : checks.next(owner.status, transition);
  if (status !== owner.status) {
    return ctx.update(beneficialOwners, owner, { status, updated_at: ctx.now });
  }
  ctx.require(beneficialOwners, owner);
  return owner;
}
