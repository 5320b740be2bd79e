// Which operations can require an approval. Policies are checked against it, and the API document
// declares the reply 202 only for these operations.
import type { Contract } from '../kernel/contract/operation.ts';

/** Decisions themselves cannot require approval. */
const DECISIONS: readonly string[] = ['approveChange', 'rejectChange'];

const OWN_SESSION = 'must not be an operation on a session or sign-in method of the caller';

/** The reason why a policy can never apply to the operation, or undefined if it can require approval. */
export function approvalProblem(contract: Contract | undefined): string | undefined {
  const { method = 'GET', auth, callsExternal, operatorPermission } = contract ?? {};
  if (!contract || auth !== 'operator') return 'must be an operation of the operator API';
  // Users manage their own session and sign-in methods without approval.
  if (operatorPermission === 'profile.manage') return OWN_SESSION;
  // Searches are POST requests, because URLs of requests are logged.
  const isRead = method === 'GET' || operatorPermission?.endsWith('.read');
  if (isRead) return 'must be an operation that changes data';
  if (DECISIONS.includes(contract.operationId)) return 'must not be a decision about an approval';
  // A change set can be withheld until it is approved. External effects cannot.
  return callsExternal ? 'must be an operation that is executed in one commit' : undefined;
}
