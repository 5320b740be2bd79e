// Manual review of identity checks, for example without a verification service. A review shows the
// complete case, including personal data. A manual decision has the same effect as the decision of
// a service. It applies to owners of a business unless they are decided individually.

import { findingKind } from '../../../catalog/identity/verification-errors.ts';
import type { IdentityFinding } from '../../../connectors/ports/index.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { cursorOf, type PageInput, pageOfRows, startOf } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { documentsOf, markSubmitted } from '../documents/index.ts';
import { type OwnerRow, readOwner, transitionOwner } from '../owners/index.ts';
import {
  type CheckTransition,
  type CustomerRow,
  isFinal,
  readCustomer,
  requireCustomer,
} from '../records/index.ts';
import { caseOf, errorsOf, gapsOfDossier, readDossier } from './case.ts';
import type { VerificationError } from './contract.ts';
import { decide } from './decide.ts';
import { findingsOf, latestOf } from './record.ts';
import { type VerificationRow, verifications } from './store.ts';

const notFound = (resource: string): Fault =>
  new Fault('NOT_FOUND', `The ${resource} was not found.`);
const conflict = (reason: string): Fault => new Fault('CONFLICT', reason);

/**
 * Subject of an identifier: a customer, specified directly or by its verification, or one of its
 * owners.
 */
interface Subject {
  customer: CustomerRow;
  owner?: OwnerRow;
}

type Reader = Pick<Ctx, 'read' | 'db'>;

const readerOf = ({ db }: Runtime): Reader => ({ db, read: db.read });

async function requireExistingCustomer(reader: Reader, id: string): Promise<CustomerRow> {
  const customer = await readCustomer(reader, id);
  if (!customer) throw notFound('customer');
  return customer;
}

/** Throws CONFLICT for a verification that was replaced by a later verification. */
async function subjectOf(reader: Reader, id: string): Promise<Subject> {
  if (isId(id, 'Customer')) return { customer: await requireExistingCustomer(reader, id) };
  if (isId(id, 'BeneficialOwner')) {
    const owner = await readOwner(reader, id);
    if (!owner) throw notFound('owner');
    return { customer: await requireExistingCustomer(reader, owner.customer_id), owner };
  }
  const row = isId(id, 'Verification') ? await reader.read(verifications, id) : undefined;
  if (!row) throw notFound('verification, customer or owner');
  if (!row.latest) {
    const reason = 'A later verification has replaced this verification.';
    throw conflict(`${reason} Use the ID of the customer.`);
  }
  return { customer: await requireExistingCustomer(reader, row.customer_id) };
}

const presentVerification = (row: VerificationRow) => ({
  verificationId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  status: row.status,
  decidedBy: row.decided_by,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
});

/**
 * Excludes deleted customers, because their verifications are never decided and would remain in the
 * queue.
 */
export const LATEST_VERIFICATIONS = `select v.id from verifications v join customers c on c.id = v.customer_id
  where v.latest and v.status = $1 and ($2::text is null or v.platform_id = $2)
    and c.deleted_at is null and (v.created_at, v.id) > ($3::timestamptz, $4::text)
  order by v.created_at, v.id limit $5`;

interface ListInput extends PageInput {
  status: string;
  platformId?: string | undefined;
  /** Identifier of the last verification of the previous page, as an alternative to its cursor. */
  after?: string | undefined;
}

async function cursorAfter({ read }: Runtime['db'], id: string): Promise<string> {
  const row = await read(verifications, id);
  if (!row) throw notFound('verification');
  return cursorOf(row);
}

/** A page of the latest verification of each customer with this status, oldest first. */
export async function listVerifications(
  { db }: Runtime,
  { status, platformId, after, cursor, limit }: ListInput,
) {
  const start = startOf(after === undefined ? cursor : await cursorAfter(db, after));
  const position = [new Date(start.created_at), start.id];
  const values = [status, platformId ?? null, ...position, limit + 1];
  const ids = await db.query<{ id: string }>(LATEST_VERIFICATIONS, values);
  const rows = await Promise.all(ids.map(({ id }) => db.read(verifications, id)));
  const existingRows = rows.filter((row) => row !== undefined);
  const { data, ...rest } = pageOfRows(existingRows, limit, (row) => row);
  return { data: data.map(presentVerification), ...rest };
}

/** The latest verification of a customer, without personal data, or null without a verification. */
export async function latestVerification({ db }: Pick<Runtime, 'db'>, customerId: string) {
  const row = await latestOf({ db }, customerId);
  return row ? presentVerification(row) : null;
}

/** Complete case for a review, by identifier of a customer, an owner or a verification. */
export async function showVerification(runtime: Runtime, id: string) {
  const { vault } = runtime;
  const reader = readerOf(runtime);
  const { customer } = await subjectOf(reader, id);
  const [dossier, latestRow] = await Promise.all([
    readDossier(reader, customer),
    latestOf(reader, customer.id),
  ]);
  const { id: _, ...submittedCase } = caseOf(vault, customer.id, dossier);
  const statuses = new Map(dossier.owners.map((each) => [each.id, each.status]));
  return {
    verification: latestRow
      ? { ...presentVerification(latestRow), errors: findingsOf(vault, customer, latestRow) }
      : null,
    status: customer.status,
    contactVerification: customer.contact_verification,
    missing: gapsOfDossier(vault, dossier),
    ...submittedCase,
    documents: [...submittedCase.documents],
    owners: submittedCase.owners.flatMap((owner) => {
      const status = statuses.get(owner.id);
      return status ? [{ ...owner, status }] : [];
    }),
  };
}

async function errorsFor(
  ctx: Ctx,
  customer: CustomerRow,
  findings: readonly IdentityFinding[],
): Promise<VerificationError[]> {
  const dossier = await readDossier(ctx, customer);
  const resourceIds = [customer, ...dossier.owners, ...dossier.documents].map((each) => each.id);
  const unrelatedFinding = findings.find(
    (each) => each.resourceId && !resourceIds.includes(each.resourceId),
  );
  if (unrelatedFinding)
    throw conflict(`${unrelatedFinding.resourceId} does not belong to this customer.`);
  return errorsOf(dossier, findings);
}

/**
 * Missing or unexpected field, or missing document, of a finding. Undefined for a valid finding.
 */
export function findingProblem({
  type,
  resourceId,
  field,
}: Pick<IdentityFinding, 'type' | 'resourceId' | 'field'>):
  | 'field-missing'
  | 'field-unexpected'
  | 'document-missing'
  | undefined {
  const { subject } = findingKind(type);
  if (subject === 'field' && field === undefined) return 'field-missing';
  if (subject !== 'field' && field !== undefined) return 'field-unexpected';
  const isAboutDocument = typeof resourceId === 'string' && resourceId.startsWith('Document:');
  return subject === 'document' && !isAboutDocument ? 'document-missing' : undefined;
}

export type Decision = 'approved' | 'rejected' | 'unresolved';

const CHECK_TRANSITIONS: Readonly<Record<Decision, CheckTransition>> = {
  approved: 'approve',
  rejected: 'reject',
  unresolved: 'hold',
};

interface OwnerDecision {
  platformId: string;
  customerId: string;
  ownerId: string;
  status: OwnerRow['status'];
}

interface CustomerDecision extends ReturnType<typeof presentVerification> {
  errors: VerificationError[];
}

async function decideOwner(
  ctx: Ctx,
  { customer, owner }: Required<Subject>,
  state: Decision,
): Promise<OwnerDecision> {
  if (customer.deleted_at !== null) throw conflict('The business was deleted.');
  if (isFinal(owner)) throw conflict(`The owner is ${owner.status}. This status is final.`);
  requireCustomer(ctx, customer);
  if (state !== 'unresolved') markSubmitted(ctx, await documentsOf(ctx, [owner.id]));
  const { status } = transitionOwner(ctx, owner, CHECK_TRANSITIONS[state]);
  return { platformId: customer.platform_id, customerId: customer.id, ownerId: owner.id, status };
}

interface DecisionInput {
  /** Identifier of a customer, of its latest verification, or of one owner of a business. */
  id: string;
  state: Decision;
  findings: readonly IdentityFinding[];
}

/**
 * Records a decision on a customer or an owner. Throws NOT_FOUND, CONFLICT, or INVALID_INPUT for
 * `unresolved` without a finding.
 */
export async function decideVerification(
  runtime: Runtime,
  { id, state, findings }: DecisionInput,
): Promise<OwnerDecision | CustomerDecision> {
  const { customer: currentCustomer } = await subjectOf(readerOf(runtime), id);
  const platform = await readPlatform(runtime.db, currentCustomer.platform_id);
  if (!platform) throw notFound('platform');
  const caller = systemCaller(platform.id, platform.environment);
  return operate(runtime, caller, async (ctx): Promise<OwnerDecision | CustomerDecision> => {
    const subject = await subjectOf(ctx, id);
    const { customer, owner } = subject;
    if (owner) {
      if (findings.length) {
        throw conflict(
          'Findings are recorded for the business. Decide about the business instead.',
        );
      }
      return decideOwner(ctx, { customer, owner }, state);
    }
    if (state === 'unresolved' && !findings.length) {
      throw new Fault('INVALID_INPUT', 'At least one finding is required.');
    }
    if (customer.deleted_at !== null) throw conflict('The customer was deleted.');
    if (isFinal(customer))
      throw conflict(`The customer is ${customer.status}. This status is final.`);
    const errors = await errorsFor(ctx, customer, findings);
    const row = await decide(ctx, customer, { state, errors });
    return { ...presentVerification(row), errors };
  });
}
