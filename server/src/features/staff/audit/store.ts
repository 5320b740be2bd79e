// Audit records of operators: append-only, numbered without gaps, chained by a keyed hash.
import type { OperatorKind } from '../../../kernel/caller.ts';
import { Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';

/** A request with this idempotency key was executed, and its reply was not stored. */
export const alreadyExecutedFault = (): Fault =>
  new Fault(
    'CONFLICT',
    'A request with this Idempotency-Key was executed before. Its audit record has the result.',
  );

const COLUMNS = {
  id: col.text,
  /** 1 for the first record, without gaps. */
  number: col.int8,
  actor_kind: col.enum<OperatorKind>(),
  actor_id: col.text,
  actor_name: col.text,
  roles: col.enums<string>(),
  address: col.text.null,
  request_id: col.text.null,
  operation_id: col.text,
  /** The resource that was changed or shown. */
  subject: col.text.null,
  platform_id: col.text.null,
  customer_id: col.text.null,
  reason: col.text.null,
  /** WAITING_FOR_APPROVAL or the code of an error, or null if the request succeeded. */
  outcome: col.text.null,
  /** Sealed JSON of `Changes`. Unreadable after an erasure of the customer. */
  changes: col.text.null,
  request_key: col.text.null,
  previous_hash: col.text,
  hash: col.text,
  created_at: col.time,
};

export const operatorAudit = table('operator_audit', COLUMNS, {
  unique: { operator_audit_request_key_key: alreadyExecutedFault },
});

export type AuditRow = RowOf<typeof operatorAudit>;

/** Number and hash of the last record. */
export const auditHead = table('operator_audit_head', {
  id: col.text,
  number: col.int8.mut,
  hash: col.text.mut,
  version: col.int4,
});

export const HEAD = 'head';
