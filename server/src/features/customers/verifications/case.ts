// Reads a customer with its owners and documents, and maps the result for the completeness check
// and for connectors. Maps findings of connectors to verification errors of the API.

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
import { errorOf, gapsIn, type KnownCustomer, type KnownOwner } from './completeness.ts';
import type { VerificationError } from './contract.ts';

/** Customer with its owners and documents. */
export interface Dossier {
  customer: CustomerRow;
  owners: OwnerRow[];
  documents: DocumentRow[];
}

export async function readDossier(ctx: Pick<Ctx, 'db'>, customer: CustomerRow): Promise<Dossier> {
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

function knownCustomerOf(vault: Vault, dossier: Dossier): KnownCustomer {
  const { customer, documents } = dossier;
  const { details, identifier } = personalOf(vault, customer);
  return {
    customerId: customer.id,
    type: customer.type,
    fields: { ...details, identifier },
    owners: knownOwners(vault, dossier),
    documents: documents.map((document) => ({
      id: document.id,
      holder: document.holder_id,
      type: document.type,
      side: document.side,
    })),
  };
}

/** Missing data, independent of the verifier. */
export const gapsOfDossier = (vault: Vault, dossier: Dossier): VerificationError[] =>
  gapsIn(knownCustomerOf(vault, dossier));

/** Case that is submitted to a connector. */
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
        ...view
      } = presentDocument(vault, customer, row);
      return { ...view, holder };
    }),
  };
}

/** Document types that can replace a document of this type. */
function alternativesTo({ type }: DocumentRow): DocumentRow['type'][] {
  const lists = FINDING_TYPES.map((each) => findingKind(each).acceptedDocuments ?? []);
  const acceptingLists = lists.filter((list) => list.some((each) => each === type));
  return acceptingLists.length ? [...new Set(acceptingLists.flat())] : [type];
}

const REPLACEABLE_FINDINGS: readonly FindingType[] = ['INVALID_DOCUMENT', 'EXPIRED_DOCUMENT'];

/**
 * Findings as verification errors. Findings about resources outside this dossier are attributed to
 * the customer.
 */
export function errorsOf(
  { customer, owners, documents }: Dossier,
  findings: readonly IdentityFinding[],
): VerificationError[] {
  const resourceIds = new Set([customer, ...owners, ...documents].map((each) => each.id));
  return findings.map(({ type, resourceId, field, reason }) => {
    const id = resourceId !== undefined && resourceIds.has(resourceId) ? resourceId : customer.id;
    const isField = findingKind(type).subject === 'field';
    const error = errorOf(id, type, { field: isField ? field : undefined, reason });
    const document = documents.find((each) => each.id === id);
    if (!document || !REPLACEABLE_FINDINGS.includes(type)) return error;
    return { ...error, acceptedDocumentTypes: alternativesTo(document) };
  });
}
