// What the hosted page can do: it calls the same functions as the API, for the one customer of its link.
// Every change leans on the link, and an accepted submission uses it up in the same change set: of two
// submissions at once one finds the link used, and nothing changes behind a submission's back.

import { findingKind } from '../../../catalog/identity/verification-errors.ts';
import { Fault } from '../../../kernel/fault.ts';
import { iso } from '../../../kernel/world.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { ownPlatform } from '../../tenancy/platform/index.ts';
import {
  addDocument,
  changeDocument,
  type DocumentParts,
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
import { type CustomerParts, changeCustomer } from '../registration/index.ts';
import {
  presentVerification,
  submit,
  type VerificationError,
  type VerificationParts,
  wantedOf,
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

const CLOSER_LOOK = 'This needs a closer look. Please ask whoever sent you here.';

export type PageParts = CustomerParts & DocumentParts & VerificationParts;

/** The link and its customer, about whom something is to be said. */
async function openForWork(ctx: Ctx, secret: string) {
  const found = await openLink(ctx, secret);
  if (isFinal(found.customer)) {
    // Another submission may have used the link between the two reads: then that is the answer.
    await openLink(ctx, secret);
    throw new Fault('CONFLICT', 'The verification is over; nothing can be changed any more.');
  }
  return found;
}

/** The same for whatever is not a submission: it counts only while the link does. */
async function openForChange(ctx: Ctx, secret: string): Promise<CustomerRow> {
  const { link, customer } = await openForWork(ctx, secret);
  ctx.require(kycLinks, link);
  return customer;
}

/** A person without the number; the type of a number stands only where there is one. */
function personOf(info: ReturnType<typeof presentOwner>['personalInfo']) {
  const { identifier, idType, ...rest } = info;
  return identifier === '' ? rest : { ...rest, idType };
}

/**
 * What stands in the way, as the person behind the link may know it: that somebody is suspected of something
 * is for the platform to say, or to keep to itself.
 */
const forThePerson = (errors: readonly VerificationError[]): VerificationError[] =>
  errors.map((error) =>
    findingKind(error.type).about === 'applicant'
      ? { resourceId: error.resourceId, type: 'APPLICANT_REJECTED', reason: CLOSER_LOOK }
      : error,
  );

async function stateOf(ctx: Ctx, parts: PageParts, secret: string) {
  const { link, customer } = await openLink(ctx, secret);
  const [platform, owners] = await Promise.all([ownPlatform(ctx), ownersOf(ctx, customer)]);
  const [{ gaps, findings }, papers] = await Promise.all([
    isFinal(customer) ? { gaps: [], findings: [] } : wantedOf(ctx, parts, customer),
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
    owners: owners.map((each) => {
      const shown = presentOwner(ctx.vault, customer, each);
      return { ...shown, personalInfo: personOf(shown.personalInfo) };
    }),
    documents: papers.map((each) => presentDocument(ctx.vault, customer, each)),
    gaps: [...gaps, ...forThePerson(findings)],
    findings: forThePerson(findings),
    choices: choicesFor(customer.type),
    maxFileBytes: MAX_FILE_BYTES,
    ...(isFinal(customer) && link.redirect_uri !== null ? { redirectUri: link.redirect_uri } : {}),
  };
}

/** Documents of the link's customer and of its owners; nobody else's can be reached from here. */
async function paperOf(ctx: Ctx, customer: CustomerRow, id: string): Promise<DocumentRow> {
  const row = await documentOf(ctx, id);
  if (row.customer_id !== customer.id) throw new Fault('NOT_FOUND', 'No such document.');
  return row;
}

async function refuseForeignHolder(ctx: Ctx, customer: CustomerRow, id: string): Promise<void> {
  const owners = await ownersOf(ctx, customer);
  if (id === customer.id || owners.some((each) => each.id === id)) return;
  throw new Fault('DOCUMENT_HOLDER_NOT_FOUND', 'No such customer or beneficial owner.');
}

async function submitLink(ctx: Ctx, parts: PageParts, secret: string) {
  const { link, customer } = await openForWork(ctx, secret);
  const row = await submit(ctx, parts, customer.id).catch(async (error: unknown) => {
    // Where another submission has used the link since it was read, that is the answer.
    await openLink(ctx, secret);
    throw error;
  });
  const { status: verificationStatus } = row;
  const errors = forThePerson(presentVerification(ctx.vault, customer, row).errors);
  if (verificationStatus === 'RESOLVE_ERRORS') {
    ctx.require(kycLinks, link);
    return { verificationStatus, errors };
  }
  const { redirect_uri: redirectUri } = ctx.update(kycLinks, link, { used_at: ctx.now });
  return { verificationStatus, errors, ...(redirectUri === null ? {} : { redirectUri }) };
}

const NOTHING = { status: 204, body: undefined } as const;

export const pageOperations = (parts: PageParts) => [
  handle(readVerificationPage, async (ctx, { params }) => ({
    status: 200,
    body: await stateOf(ctx, parts, params.secret),
  })),

  handle(changeOnVerificationPage, async (ctx, { params, body }) => {
    const { id: customerId } = await openForChange(ctx, params.secret);
    // What the platform decides, or has proved by other means, is not for the page to change.
    const { email, phoneNumber, currencies, umaAddress, endUserTermsConsent, ...own } = body;
    await changeCustomer(ctx, parts, { params: { customerId }, query: {}, headers: {}, body: own });
    return NOTHING;
  }),

  handle(addOwnerOnVerificationPage, async (ctx, { params, body }) => {
    const { id: customerId } = await openForChange(ctx, params.secret);
    await addOwner(ctx, { ...body, customerId });
    return NOTHING;
  }),

  handle(changeOwnerOnVerificationPage, async (ctx, { params, body }) => {
    const customer = await openForChange(ctx, params.secret);
    const owner = await ownerOf(ctx, params.ownerId);
    if (owner.customer_id !== customer.id) throw new Fault('NOT_FOUND', 'No such owner.');
    await changeOwner(ctx, owner.id, body);
    return NOTHING;
  }),

  handle(uploadOnVerificationPage, async (ctx, { params, body }) => {
    const customer = await openForChange(ctx, params.secret);
    await refuseForeignHolder(ctx, customer, body.documentHolder);
    const { row } = await addDocument(ctx, parts, body);
    return { status: 201, body: presentDocument(ctx.vault, customer, row) };
  }),

  handle(replaceOnVerificationPage, async (ctx, { params, body }) => {
    const customer = await openForChange(ctx, params.secret);
    const was = await paperOf(ctx, customer, params.documentId);
    const { row } = await changeDocument(ctx, parts, was, body);
    return { status: 200, body: presentDocument(ctx.vault, customer, row) };
  }),

  handle(removeOnVerificationPage, async (ctx, { params }) => {
    const customer = await openForChange(ctx, params.secret);
    await removeDocument(ctx, await paperOf(ctx, customer, params.documentId));
    return NOTHING;
  }),

  handle(submitVerificationPage, async (ctx, { params }) => ({
    status: 200,
    body: await submitLink(ctx, parts, params.secret),
  })),
];
