// Public interface of the audit of operators.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { CUSTOMER_ROWS_SQL, type PersonalData } from '../../../runtime/operation/personal-data.ts';
import { sealedOperatorKey } from './sealed.ts';

export { type Changes, changesOf, changesText, ownersOf } from './changes.ts';
export {
  allAuditLines,
  auditLines,
  auditRecordById,
  changesOfRecord,
  pageOfRecords,
  presentRecord,
  type RecordHead,
  recordHeads,
  verifyAudit,
} from './read.ts';
export {
  type AuditedRequest,
  type AuditedRuntime,
  auditedRuntime,
  type CommitCheck,
} from './record.ts';
export { openFor, sealFor } from './sealed.ts';

/**
 * Records are retained after an erasure. Their changes become unreadable with the deletion of the
 * customer's key.
 */
const personalData: PersonalData = {
  tables: {
    operator_audit: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['changes', 'previous_hash', 'hash', 'request_key'],
      erasure: {
        retained: 'actions, their operators and times. The changes are sealed under a deleted key',
      },
    },
  },
};

/** Parts that this feature adds to a server. */
export const auditFeature = {
  sealed: [sealedOperatorKey],
  personalData,
  reset: { retained: { operator_audit: 'true', operator_audit_head: 'true' } },
} satisfies Feature;
