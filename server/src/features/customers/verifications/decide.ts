// What a decision means: for the verification, for those who own the business, and for the customer, all in
// one change set. An operator's word and the late word of a connector take this same door, so they cannot
// differ; what is final stays as it is.

import type { OwnerOutcome } from '../../../connectors/ports/index.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { documentsOf, markSubmitted } from '../documents/index.ts';
import { moveOwner, type OwnerRow, ownersOf } from '../owners/index.ts';
import { type CheckMove, type CustomerRow, isFinal, requireCustomer } from '../records/index.ts';
import { moveCheck } from '../registration/index.ts';
import type { VerificationError } from './contract.ts';
import { addVerification, changeVerification, latestOf, type Standing } from './record.ts';
import { verificationStates } from './states.ts';
import type { VerificationRow } from './store.ts';

/** Owners that were submitted and that it does not name share the fate of the business. */
type Decision =
  | {
      state: 'approved' | 'rejected';
      errors?: readonly VerificationError[];
      owners?: Readonly<Record<string, OwnerOutcome>>;
    }
  | { state: 'unresolved'; errors: readonly VerificationError[] };

const MOVE_TO = { APPROVED: 'approve', REJECTED: 'reject', PENDING: 'submit' } as const;

const MEANS = {
  approved: { event: 'approve', status: 'APPROVED', move: 'approve' },
  rejected: { event: 'reject', status: 'REJECTED', move: 'reject' },
  unresolved: { event: 'ask', status: 'RESOLVE_ERRORS', move: 'hold' },
} as const;

/**
 * Stages what a decision about a business means for its owners. Where `otherwise` is missing, those
 * without an outcome of their own stay as they are.
 */
export const settleOwners = (
  ctx: Ctx,
  owners: readonly OwnerRow[],
  otherwise: (owner: OwnerRow) => CheckMove | undefined,
  outcomes: Readonly<Record<string, OwnerOutcome>> = {},
): OwnerRow[] =>
  owners.map((owner) => {
    const outcome = Object.hasOwn(outcomes, owner.id) ? outcomes[owner.id] : undefined;
    return moveOwner(ctx, owner, outcome ? MOVE_TO[outcome] : otherwise(owner));
  });

/** Moves the customer, or holds the commit to its staying as it is. */
export async function moveCustomer(
  ctx: Ctx,
  customer: CustomerRow,
  move: CheckMove,
  owners: readonly OwnerRow[],
): Promise<void> {
  const moved = await moveCheck(ctx, customer, move, owners);
  if (moved === customer) requireCustomer(ctx, customer);
}

/** Throws where nothing can be decided about a customer any more. */
export function refuseSettled(customer: CustomerRow): void {
  if (customer.deleted_at !== null) {
    throw new Fault('CUSTOMER_DELETED', 'This customer was deleted.');
  }
  if (!isFinal(customer)) return;
  const reason = `This customer is ${customer.status}, which is final.`;
  const errors = [{ field: 'customerId', message: `is ${customer.status}, which is final` }];
  throw new Fault('INVALID_INPUT', reason, { errors });
}

/**
 * Stages a decision about a customer: on the verification that waits for it, or on a new one where none
 * does. `unresolved` holds the customer until it is submitted again.
 */
export async function decide(
  ctx: Ctx,
  customer: CustomerRow,
  decision: Decision,
  decidedBy: Standing['decidedBy'] = 'operator',
): Promise<VerificationRow> {
  refuseSettled(customer);
  const { event, status, move } = MEANS[decision.state];
  const [latest, owners] = await Promise.all([latestOf(ctx, customer.id), ownersOf(ctx, customer)]);
  const standing = { status, errors: decision.errors ?? [], decidedBy };
  const isWaiting = latest && verificationStates.peek(latest.status, event) !== undefined;
  const row = isWaiting
    ? changeVerification(ctx, customer, latest, standing)
    : await addVerification(ctx, customer, ctx.id('Verification'), standing);
  const outcomes = decision.state === 'unresolved' ? undefined : decision.owners;
  // A connector has not seen owners who were named after the submission; an operator sees them all.
  const isSeen = (owner: OwnerRow) => decidedBy === 'operator' || owner.status !== 'UNVERIFIED';
  const settled = settleOwners(ctx, owners, (each) => (isSeen(each) ? move : undefined), outcomes);
  // Whatever is there when it ends was there to be looked at, and stays as evidence.
  if (decision.state !== 'unresolved') {
    markSubmitted(ctx, await documentsOf(ctx, [customer.id, ...owners.map((each) => each.id)]));
  }
  await moveCustomer(ctx, customer, move, settled);
  return row;
}
