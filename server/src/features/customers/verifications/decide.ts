// Applies a decision to a verification, to the owners of a business and to the customer, in one
// change set. Decisions of operators and delayed decisions of connectors use the same function.
// Final statuses do not change.

import type { OwnerOutcome } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { documentsOf, markSubmitted } from '../documents/index.ts';
import { type OwnerRow, ownersOf, transitionOwner } from '../owners/index.ts';
import {
  type CheckTransition,
  type CustomerRow,
  isFinal,
  requireCustomer,
} from '../records/index.ts';
import { transitionCheck } from '../registration/index.ts';
import type { VerificationError } from './contract.ts';
import {
  addVerification,
  changeVerification,
  latestOf,
  type VerificationOutcome,
} from './record.ts';
import { verificationStates } from './states.ts';
import type { VerificationRow } from './store.ts';

/**
 * Owners that are missing in `owners` receive the decision of the business. A connector decides
 * about submitted owners only.
 */
type Decision =
  | {
      state: 'approved' | 'rejected';
      errors?: readonly VerificationError[];
      owners?: Readonly<Record<string, OwnerOutcome>>;
    }
  | { state: 'unresolved'; errors: readonly VerificationError[] };

const OWNER_TRANSITIONS = { APPROVED: 'approve', REJECTED: 'reject', PENDING: 'submit' } as const;

const TRANSITIONS = {
  approved: { event: 'approve', status: 'APPROVED', customerEvent: 'approve' },
  rejected: { event: 'reject', status: 'REJECTED', customerEvent: 'reject' },
  unresolved: { event: 'requestChanges', status: 'RESOLVE_ERRORS', customerEvent: 'hold' },
} as const;

/**
 * Applies the decision on a business to its owners. Without a default transition, owners without a
 * separate outcome are unchanged.
 */
export const decideOwners = (
  ctx: Ctx,
  owners: readonly OwnerRow[],
  defaultTransition: (owner: OwnerRow) => CheckTransition | undefined,
  outcomes: Readonly<Record<string, OwnerOutcome>> = {},
): OwnerRow[] =>
  owners.map((owner) => {
    const outcome = Object.hasOwn(outcomes, owner.id) ? outcomes[owner.id] : undefined;
    return transitionOwner(
      ctx,
      owner,
      outcome ? OWNER_TRANSITIONS[outcome] : defaultTransition(owner),
    );
  });

/**
 * Applies a transition to the customer. If the status does not change, the commit requires that the
 * row is unchanged.
 */
export async function transitionCustomer(
  ctx: Ctx,
  customer: CustomerRow,
  transition: CheckTransition,
  owners: readonly OwnerRow[],
): Promise<void> {
  const updatedCustomer = await transitionCheck(ctx, customer, transition, owners);
  if (updatedCustomer === customer) requireCustomer(ctx, customer);
}

/** Throws if the customer was deleted or has a final status. */
export function assertDecidable(customer: CustomerRow): void {
  if (customer.deleted_at !== null) {
    throw new Fault('CUSTOMER_DELETED', 'The customer was deleted.');
  }
  if (!isFinal(customer)) return;
  const reason = `The customer is ${customer.status}. This status is final.`;
  const errors = [{ field: 'customerId', message: `has the final status ${customer.status}` }];
  throw new Fault('INVALID_INPUT', reason, { errors });
}

/**
 * Stages a decision about a customer on its pending verification, or on a new verification if none
 * is pending. `unresolved` sets the customer to HOLD.
 */
export async function decide(
  ctx: Ctx,
  customer: CustomerRow,
  decision: Decision,
  decidedBy: VerificationOutcome['decidedBy'] = 'operator',
): Promise<VerificationRow> {
  assertDecidable(customer);
  const { event, status, customerEvent } = TRANSITIONS[decision.state];
  const [latestVerification, owners] = await Promise.all([
    latestOf(ctx, customer.id),
    ownersOf(ctx, customer),
  ]);
  const outcome = { status, errors: decision.errors ?? [], decidedBy };
  const isPending =
    latestVerification &&
    verificationStates.targetOf(latestVerification.status, event) !== undefined;
  const row = isPending
    ? changeVerification(ctx, customer, latestVerification, outcome)
    : await addVerification(ctx, customer, ctx.id('Verification'), outcome);
  const outcomes = decision.state === 'unresolved' ? undefined : decision.owners;
  // A connector has no data on owners that were added after the submission. An operator decides
  // about all owners.
  const isCovered = (owner: OwnerRow) => decidedBy === 'operator' || owner.status !== 'UNVERIFIED';
  const decidedOwners = decideOwners(
    ctx,
    owners,
    (each) => (isCovered(each) ? customerEvent : undefined),
    outcomes,
  );
  // All documents that exist at the decision are evidence and are retained.
  if (decision.state !== 'unresolved') {
    markSubmitted(ctx, await documentsOf(ctx, [customer.id, ...owners.map((each) => each.id)]));
  }
  await transitionCustomer(ctx, customer, customerEvent, decidedOwners);
  return row;
}
