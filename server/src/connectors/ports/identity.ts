// Identity checks of customers and of the owners of a business.

import type { FindingType } from '../../catalog/identity/verification-errors.ts';

/** A person who owns or controls a business. */
interface IdentityOwner {
  id: string;
  roles: readonly string[];
  ownershipPercentage: number;
  /** Name, birth date, address and identity number, by their API names. */
  personalInfo: Readonly<Record<string, unknown>>;
}

/** A document of a case, without its file. */
interface IdentityDocument {
  id: string;
  /** ID of the customer or the owner. */
  holder: string;
  documentType: string;
  side?: string;
  country: string;
  documentNumber?: string;
  issuingAuthority?: string;
}

/** The case of a customer for verification. It is complete, except for `withoutDocuments`. */
export interface IdentityCase {
  /** Unique for this submission. A repeated submission must be idempotent. */
  id: string;
  platformId: string;
  customerId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  email: string | null;
  phoneNumber: string | null;
  /** Fields of the type of customer, by their API names. */
  details: Readonly<Record<string, unknown>>;
  /** Identity number of an individual, of the type `idType`. Null if there is none. */
  identifier: string | null;
  owners: readonly IdentityOwner[];
  documents: readonly IdentityDocument[];
}

/** Missing or incorrect data, or a reason for a rejection. */
export interface IdentityFinding {
  type: FindingType;
  /** ID of the customer, owner or document. Default: the customer. */
  resourceId?: string;
  field?: string;
  reason?: string;
}

export type OwnerOutcome = 'APPROVED' | 'REJECTED' | 'PENDING';

/**
 * State of a case. `review` is polled again after `checkAfterMs`. Without `checkAfterMs` an
 * operator decides. `unknown`: the submission may not have arrived. Owners of the case that a final
 * verdict does not name share its outcome.
 */
export type IdentityVerdict =
  | { state: 'approved'; owners?: Readonly<Record<string, OwnerOutcome>> }
  | {
      state: 'rejected';
      owners?: Readonly<Record<string, OwnerOutcome>>;
      findings?: readonly IdentityFinding[];
    }
  | { state: 'unresolved'; findings: readonly IdentityFinding[] }
  | { state: 'review'; checkAfterMs?: number }
  | { state: 'unknown'; checkAfterMs: number };

export interface IdentityPort {
  /**
   * Scripts the initial status of customers of a platform without document requirements. Absent:
   * the platform decides.
   */
  atCreation?(customer: {
    type: 'INDIVIDUAL' | 'BUSINESS';
    fullName: string | null;
  }): 'UNVERIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED';
  /**
   * Verdict for a complete or incomplete case of a platform without document requirements.
   * Undefined if the case must be complete. Absent: every case must be complete.
   */
  withoutDocuments?(identityCase: IdentityCase): IdentityVerdict | undefined;
  /** Called while the client waits, and again by a job after `unknown`. */
  submit(identityCase: IdentityCase): Promise<IdentityVerdict>;
  /** Polled at the times of `checkAfterMs` until the case is decided. */
  check(identityCase: IdentityCase): Promise<IdentityVerdict>;
}
