// Those who own or control a business, as rows and as the API shows them: part of the business, and sealed
// under its data key.

import type { Static } from '@sinclair/typebox';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import { type Ctx, stamps } from '../../../runtime/operation/context.ts';
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import type { BeneficialOwner, OwnerPersonal } from '../profiles/index.ts';
import {
  type CheckMove,
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
    /** The business. */
    customer_id: col.text,
    roles: col.json<OwnerRole[]>().mut,
    /** Percent. */
    share: col.int4.mut,
    status: col.word<CustomerRow['status']>().mut,
    /** `OwnerPersonal`, sealed; null once erased. */
    personal: col.text.null.mut,
    /** Keyed hashes that an operator finds owners by. */
    email_digest: col.text.null.mut,
    phone_digest: col.text.null.mut,
    identifier_digest: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  { lives: [{ state: (row) => row.status, states: checks }] },
);

export type OwnerRow = RowOf<typeof beneficialOwners>;

const contextOf = (id: string) => `beneficial_owners ${id} personal`;

export const sealOwner = (vault: Vault, key: DataKey, id: string, personal: OwnerPersonal) =>
  vault.seal(key, JSON.stringify(personal), contextOf(id));

/** Who the person is; undefined once erased. */
export function ownerPersonal(
  vault: Vault,
  business: CustomerRow,
  row: OwnerRow,
): OwnerPersonal | undefined {
  const key = dataKeyOf(business);
  if (!key || row.personal === null) return undefined;
  return JSON.parse(vault.open(key, row.personal, contextOf(row.id)).toString()) as OwnerPersonal;
}

/** All but the last four, and never more than half, of a number. */
export const masked = (identifier: string): string => {
  const shown = Math.min(4, Math.floor(identifier.length / 2));
  const hidden = identifier.length - shown;
  return identifier.slice(0, hidden).replaceAll(/[\p{L}\p{N}]/gu, '*') + identifier.slice(hidden);
};

/** What must be there once nothing is known any more; ZZ is nobody's country. */
const ERASED = {
  firstName: '',
  lastName: '',
  birthDate: '0001-01-01',
  nationality: '',
  address: { line1: '-', postalCode: '-', country: 'ZZ' },
} as const satisfies OwnerPersonal;

/** Shown where a person has no identity number: the contract has both fields in every reply. */
const NO_NUMBER = { idType: 'NON_US_TAX_ID', identifier: '' } as const;

/** The resource; of the identity number only the last characters are shown. */
export function presentOwner(vault: Vault, business: CustomerRow, row: OwnerRow): OwnerView {
  const personal: OwnerPersonal = ownerPersonal(vault, business, row) ?? ERASED;
  return {
    id: row.id,
    customerId: row.customer_id,
    roles: row.roles,
    ownershipPercentage: row.share,
    personalInfo: {
      ...NO_NUMBER,
      ...personal,
      identifier: masked(personal.identifier ?? ''),
    },
    kycStatus: row.status,
    ...stamps(row),
  };
}

/** Stages one owner's move; a check that is over stays as it is. */
export function moveOwner(ctx: Ctx, owner: OwnerRow, move: CheckMove | undefined): OwnerRow {
  const status = isFinal(owner) || !move ? owner.status : checks.next(owner.status, move);
  if (status !== owner.status) {
    return ctx.update(beneficialOwners, owner, { status, updated_at: ctx.now });
  }
  ctx.require(beneficialOwners, owner);
  return owner;
}
