// What a check is made of: the customer with its owners and documents, read together; the same as
// completeness sees it and as connectors see it; and what connectors find, in the words of the API.

import {
  FINDING_TYPES,
  type FindingType,
  findingKind,
} from '../../../catalog/identity/verification-errors.ts';
import type { IdentityCase, IdentityFinding } from '../../../connectors/ports/index.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import { type DocumentRow, documentsOf, presentDocument } from '../documents/index.ts';
import { type OwnerRow, ownerPersonal, ownersOf } from '../owners/index.ts';
import { type CustomerRow, personalOf } from '../records/index.ts';
import { errorOf, gapsIn, type Known, type KnownOwner } from './completeness.ts';
import type { VerificationError } from './contract.ts';

/** A customer with all that belongs to it. */
export interface Dossier {
  customer: CustomerRow;
  owners: OwnerRow[];
  documents: DocumentRow[];
}

export async function dossierOf(ctx: Pick<Ctx, 'db'>, customer: CustomerRow): Promise<Dossier> {
  const owners = await ownersOf(ctx, customer);
  const documents = await documentsOf(ctx, [customer.id, ...owners.map((each) => each.id)]);
  return { customer, owners, documents };
}

const knownOwners = (vault: Vault, { customer, owners }: Dossier): KnownOwner[] =>
  owners.map((owner) => ({
    id: owner.id,
    roles: owner.roles,
    ownershipPercentage: owner.share,
    personalInfo: { ...ownerPersonal(vault, customer, owner) },
  }));

function knownOf(vault: Vault, dossier: Dossier): Known {
  const { customer, documents } = dossier;
  const { details, identifier } = personalOf(vault, customer);
  return {
    customerId: customer.id,
    type: customer.type,
    fields: { ...details, identifier },
    owners: knownOwners(vault, dossier),
    documents: documents.map((each) => ({
      id: each.id,
      holder: each.holder_id,
      type: each.type,
      side: each.side,
    })),
  };
}

/** What is missing, whoever will judge it. */
export const gapsOfDossier = (vault: Vault, dossier: Dossier): VerificationError[] =>
  gapsIn(knownOf(vault, dossier));

/** The case of a submission, for a connector. */
export function caseOf(vault: Vault, id: string, dossier: Dossier): IdentityCase {
  const { customer, documents } = dossier;
  const { details, identifier } = personalOf(vault, customer);
  return {
    id,
    platformId: customer.platform_id,
    customerId: customer.id,
    type: customer.type,
    email: customer.email,
    phoneNumber: customer.phone,
    details,
    identifier,
    owners: knownOwners(vault, dossier),
    documents: documents.map((row) => {
      const {
        documentHolder: holder,
        fileName: _,
        createdAt: __,
        updatedAt: ___,
        ...shown
      } = presentDocument(vault, customer, row);
      return { ...shown, holder };
    }),
  };
}

/** Documents that could stand in for one of this type. */
function alternativesTo({ type }: DocumentRow): DocumentRow['type'][] {
  const lists = FINDING_TYPES.map((each) => findingKind(each).accepted ?? []);
  const accepting = lists.filter((list) => list.some((each) => each === type));
  return accepting.length ? [...new Set(accepting.flat())] : [type];
}

const REPLACEABLE: readonly FindingType[] = ['INVALID_DOCUMENT', 'EXPIRED_DOCUMENT'];

/** What was found, about things of this dossier alone. */
export function errorsOf(
  { customer, owners, documents }: Dossier,
  findings: readonly IdentityFinding[],
): VerificationError[] {
  const known = new Set([customer, ...owners, ...documents].map((each) => each.id));
  return findings.map(({ type, resourceId, field, reason }) => {
    const id = resourceId !== undefined && known.has(resourceId) ? resourceId : customer.id;
    const isField = findingKind(type).about === 'field';
    const error = errorOf(id, type, { field: isField ? field : undefined, reason });
    const document = documents.find((each) => each.id === id);
    if (!document || !REPLACEABLE.includes(type)) return error;
    return { ...error, acceptedDocumentTypes: alternativesTo(document) };
  });
}
