// Operations of the hosted page. They call the same functions as the API, restricted to the
// customer of the link. Every change requires at commit that the link is open, and an accepted
// submission uses the link in the same change set. One of two concurrent submissions is therefore
// rejected, and the link changes no data after an accepted submission.

import { findingKind } from '../../../catalog/identity/verification-errors.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { readOwnPlatform } from '../../tenancy/platform/index.ts';
import {
  addDocument,
  changeDocument,
  type DocumentDeps,
  type DocumentRow,
  documentOf,
  documentsOf,
  MAX_FILE_BYTES,
  presentDocument,
  removeDocument,
} from '../documents/index.ts';
import { addOwner, changeOwner, ownerOf, ownersOf, presentOwner } from '../owners/index.ts';
import { choicesFor } from '../profiles/index.ts';
import { type CustomerRow, isFinal, personalOf } from '../records/index.ts';
import { type CustomerDeps, changeCustomer } from '../registration/index.ts';
import {
  presentVerification,
  requirementsOf,
  submit,
  type VerificationDeps,
  type VerificationError,
} from '../verifications/index.ts';
import { openLink } from './links.ts';
import {
  addOwnerOnVerificationPage,
  changeOnVerificationPage,
  changeOwnerOnVerificationPage,
  readVerificationPage,
  removeOnVerificationPage,
  replaceOnVerificationPage,
  submitVerificationPage,
  uploadOnVerificationPage,
} from './page-contract.ts';
import { kycLinks } from './store.ts';

const REDACTED_REASON =
  'Your details need further review. Contact the company that sent you the link.';

export type PageDeps = CustomerDeps & DocumentDeps & VerificationDeps;

/**
 * Link and customer of an identity check without a final decision. Otherwise throws LINK_ENDED or
 * CONFLICT.
 */
async function openUndecidedLink(ctx: Ctx, secret: string) {
  const openedLink = await openLink(ctx, secret);
  if (isFinal(openedLink.customer)) {
    // A concurrent submission may have used the link between the two reads. LINK_ENDED is then the
    // correct error.
    await openLink(ctx, secret);
    throw new Fault('CONFLICT', 'The verification is complete. Its data can no longer be changed.');
  }
  return openedLink;
}

/** Customer whose data a request changes. The commit requires that the link is unchanged. */
async function requireOpenLink(ctx: Ctx, secret: string): Promise<CustomerRow> {
  const { link, customer } = await openUndecidedLink(ctx, secret);
  ctx.require(kycLinks, link);
  return customer;
}

/**
 * Personal data without the masked `identifier`, and without `idType` if the person has no number.
 */
function withoutEmptyIdentifier(info: ReturnType<typeof presentOwner>['personalInfo']) {
  const { identifier, idType, ...rest } = info;
  return identifier === '' ? rest : { ...rest, idType };
}

/**
 * Requirements as shown to the applicant. Findings about the applicant, such as suspicion, are
 * replaced by a neutral reason. The platform decides about disclosure.
 */
const redactFindings = (errors: readonly VerificationError[]): VerificationError[] =>
  errors.map((error) =>
    findingKind(error.type).subject === 'applicant'
      ? { resourceId: error.resourceId, type: 'APPLICANT_REJECTED', reason: REDACTED_REASON }
      : error,
  );

async function stateOf(ctx: Ctx, deps: PageDeps, secret: string) {
  const { link, customer } = await openLink(ctx, secret);
  const [platform, owners] = await Promise.all([readOwnPlatform(ctx), ownersOf(ctx, customer)]);
  const [{ gaps, findings }, documents] = await Promise.all([
    isFinal(customer) ? { gaps: [], findings: [] } : requirementsOf(ctx, deps, customer),
    documentsOf(ctx, [customer.id, ...owners.map((each) => each.id)]),
  ]);
  const { details, identifier } = personalOf(ctx.vault, customer);
  return {
    platformName: platform.name,
    isTest: platform.environment === 'sandbox',
    expiresAt: iso(link.expires_at),
    status: customer.status,
    customer: { id: customer.id, customerType: customer.type, ...details },
    hasIdentifier: identifier !== null,
    owners: owners.map((owner) => {
      const presentedOwner = presentOwner(ctx.vault, customer, owner);
      return {
        ...presentedOwner,
        personalInfo: withoutEmptyIdentifier(presentedOwner.personalInfo),
      };
    }),
    documents: documents.map((each) => presentDocument(ctx.vault, customer, each)),
    gaps: [...gaps, ...redactFindings(findings)],
    findings: redactFindings(findings),
    choices: choicesFor(customer.type),
    maxFileBytes: MAX_FILE_BYTES,
    ...(isFinal(customer) && link.redirect_uri !== null ? { redirectUri: link.redirect_uri } : {}),
  };
}

/**
 * Document of the customer of the link or of its owners. Throws NOT_FOUND for any other document.
 */
async function requireDocument(ctx: Ctx, customer: CustomerRow, id: string): Promise<DocumentRow> {
  const row = await documentOf(ctx, id);
  if (row.customer_id !== customer.id) throw new Fault('NOT_FOUND', 'Document not found.');
  return row;
}

async function assertHolderOfCustomer(ctx: Ctx, customer: CustomerRow, id: string): Promise<void> {
  const owners = await ownersOf(ctx, customer);
  if (id === customer.id || owners.some((each) => each.id === id)) return;
  throw new Fault('DOCUMENT_HOLDER_NOT_FOUND', 'The customer or beneficial owner was not found.');
}

async function submitLink(ctx: Ctx, deps: PageDeps, secret: string) {
  const { link, customer } = await openUndecidedLink(ctx, secret);
  const row = await submit(ctx, deps, customer.id).catch(async (error: unknown) => {
    // If a concurrent submission has used the link, LINK_ENDED is the correct error.
    await openLink(ctx, secret);
    throw error;
  });
  const { status: verificationStatus } = row;
  const errors = redactFindings(presentVerification(ctx.vault, customer, row).errors);
  if (verificationStatus === 'RESOLVE_ERRORS') {
    ctx.require(kycLinks, link);
    return { verificationStatus, errors };
  }
  const { redirect_uri: redirectUri } = ctx.update(kycLinks, link, { used_at: ctx.now });
  return { verificationStatus, errors, ...(redirectUri === null ? {} : { redirectUri }) };
}

const NO_CONTENT = { status: 204, body: undefined } as const;

export const pageOperations = (deps: PageDeps) => [
  handle(readVerificationPage, async (ctx, { params }) => ({
    status: 200,
    body: await stateOf(ctx, deps, params.secret),
  })),

  handle(changeOnVerificationPage, async (ctx, { params, body }) => {
    const { id: customerId } = await requireOpenLink(ctx, params.secret);
    // The page cannot change fields that the platform controls or that are verified by other means.
    const { email, phoneNumber, currencies, umaAddress, endUserTermsConsent, ...ownFields } = body;
    await changeCustomer(ctx, deps, {
      params: { customerId },
      query: {},
      headers: {},
      body: ownFields,
    });
    return NO_CONTENT;
  }),

  handle(addOwnerOnVerificationPage, async (ctx, { params, body }) => {
    const { id: customerId } = await requireOpenLink(ctx, params.secret);
    await addOwner(ctx, { ...body, customerId });
    return NO_CONTENT;
  }),

  handle(changeOwnerOnVerificationPage, async (ctx, { params, body }) => {
    const customer = await requireOpenLink(ctx, params.secret);
    const owner = await ownerOf(ctx, params.ownerId);
    if (owner.customer_id !== customer.id)
      throw new Fault('NOT_FOUND', 'Beneficial owner not found.');
    await changeOwner(ctx, owner.id, body);
    return NO_CONTENT;
  }),

  handle(uploadOnVerificationPage, async (ctx, { params, body }) => {
    const customer = await requireOpenLink(ctx, params.secret);
    await assertHolderOfCustomer(ctx, customer, body.documentHolder);
    const { row } = await addDocument(ctx, deps, body);
    return { status: 201, body: presentDocument(ctx.vault, customer, row) };
  }),

  handle(replaceOnVerificationPage, async (ctx, { params, body }) => {
    const customer = await requireOpenLink(ctx, params.secret);
    const previousDocument = await requireDocument(ctx, customer, params.documentId);
    const { row } = await changeDocument(ctx, deps, previousDocument, body);
    return { status: 200, body: presentDocument(ctx.vault, customer, row) };
  }),

  handle(removeOnVerificationPage, async (ctx, { params }) => {
    const customer = await requireOpenLink(ctx, params.secret);
    await removeDocument(ctx, await requireDocument(ctx, customer, params.documentId));
    return NO_CONTENT;
  }),

  handle(submitVerificationPage, async (ctx, { params }) => ({
    status: 200,
    body: await submitLink(ctx, deps, params.secret),
  })),
];
