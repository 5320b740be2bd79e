// Writes audit records. Each change set that an operator commits contains its record. The commit
// requires that the last record is unchanged, so that concurrent commits have successive numbers.
import type { Operator } from '../../../kernel/caller.ts';
import { contentionFault, Fault } from '../../../kernel/fault.ts';
import { newId } from '../../../kernel/id.ts';
import {
  type ChangeSet,
  emptyChangeSet,
  type Outcome,
  type Rejection,
} from '../../../runtime/committer/change-set.ts';
import type { RowOf } from '../../../runtime/db/table.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { hashOf } from './chain.ts';
import { changesOf, changesText, type Owners, ownersOf, platformsOf } from './changes.ts';
import { sealRecord } from './sealed.ts';
import { type AuditRow, alreadyExecutedFault, auditHead, HEAD, operatorAudit } from './store.ts';

/** The fields of an audit record that do not depend on its change set. */
export interface AuditedRequest {
  operator: Operator;
  operationId: string;
  /** ID of the resource in the request. */
  subject?: string | undefined;
  reason?: string | undefined;
  /** WAITING_FOR_APPROVAL, or the code of an error. Absent if the request succeeded. */
  outcome?: string | undefined;
  /** Hash of the idempotency key. The request is then executed at most once. */
  requestKey?: string | undefined;
}

/** Maximum attempts to append a record while other operators append records. */
const MAX_ATTEMPTS = 100;

export const changesContext = (id: string) => `operator_audit ${id} changes`;

type Head = RowOf<typeof auditHead>;

async function readHead({ db }: Pick<Runtime, 'db'>): Promise<Head> {
  const head = await db.read(auditHead, HEAD);
  if (!head) throw new Error('operator_audit_head has no row');
  return head;
}

/** The record of a change set, without its number and hashes. */
async function recordOf(
  runtime: Runtime,
  set: ChangeSet,
  { platformId, customerId }: Owners,
  request: AuditedRequest,
): Promise<Omit<AuditRow, 'number' | 'previous_hash' | 'hash'>> {
  const { operator, operationId, subject, reason, outcome, requestKey } = request;
  const id = newId(runtime.effects, 'AuditRecord');
  const changes = changesOf(set);
  return {
    id,
    actor_kind: operator.kind,
    actor_id: operator.id,
    actor_name: operator.name,
    roles: operator.roles,
    address: operator.address ?? null,
    request_id: operator.requestId ?? null,
    operation_id: operationId,
    subject: subject ?? changes.rows[0]?.id ?? null,
    platform_id: platformId ?? null,
    customer_id: customerId ?? null,
    reason: reason ?? null,
    outcome: outcome ?? null,
    changes:
      changes.rows.length + changes.transfers.length === 0
        ? null
        : await sealRecord(runtime, customerId, changesText(changes), changesContext(id)),
    request_key: requestKey ?? null,
    created_at: runtime.effects.now(),
  };
}

/** Adds the next record and the new head to a change set. */
function withRecord(
  { vault }: Pick<Runtime, 'vault'>,
  set: ChangeSet,
  record: Awaited<ReturnType<typeof recordOf>>,
  head: Head,
): ChangeSet {
  const recordWithoutHash = { ...record, number: head.number + 1n, previous_hash: head.hash };
  const row = { ...recordWithoutHash, hash: hashOf(vault, recordWithoutHash) };
  const nextHead = { ...head, number: row.number, hash: row.hash };
  const { id, version } = head;
  const changedColumns = new Set(['number', 'hash']);
  return {
    ...set,
    inserts: [...set.inserts, { table: operatorAudit, row }],
    updates: [
      ...set.updates,
      { table: auditHead, id, version, previousRow: head, row: nextHead, changedColumns },
    ],
  };
}

/** Whether the request was executed before. */
const isRepeated = (rejection: Rejection): boolean =>
  rejection.reason === 'constraint' && rejection.constraint in operatorAudit.unique;

/** Throws NOT_FOUND for a change of a platform that the operator may not access. */
function assertPlatforms(set: ChangeSet, { platformIds }: Operator): void {
  if (platformIds === null) return;
  for (const id of platformsOf(set)) {
    if (!platformIds.includes(id)) throw new Fault('NOT_FOUND', 'Resource not found.');
  }
}

/** A runtime whose commits contain their audit records. */
export interface AuditedRuntime {
  runtime: Runtime;
  /** Records an access or an effect without a commit of `runtime`. */
  recordAccess(owners?: Owners): Promise<void>;
  /** Number of records that were written. */
  count(): number;
  /** Whether a request with the same key was executed before. */
  isRepeated(): Promise<boolean>;
}

/**
 * Checks a change set before its commit, and may add to it. Throws to prevent the commit. `commits`
 * is the number of earlier commits of the request.
 */
export type CommitCheck = (set: ChangeSet, commits: number) => Promise<ChangeSet>;

const acceptAll: CommitCheck = async (set) => set;

/** A runtime for one request of an operator. */
export function auditedRuntime(
  baseRuntime: Runtime,
  request: AuditedRequest,
  check: CommitCheck = acceptAll,
): AuditedRuntime {
  let count = 0;

  async function commit(set: ChangeSet, owners: Owners = ownersOf(set)): Promise<Outcome> {
    // Further change sets of the same request do not repeat its key.
    const requestKey = count === 0 ? request.requestKey : undefined;
    const record = await recordOf(baseRuntime, set, owners, { ...request, requestKey });
    for (let attempt = 1; ; attempt++) {
      const head = await readHead(baseRuntime);
      const outcome = await baseRuntime.committer.commit(
        withRecord(baseRuntime, set, record, head),
      );
      if (outcome.ok) count++;
      else if (isRepeated(outcome.rejection)) throw alreadyExecutedFault();
      const isContended =
        !outcome.ok &&
        outcome.rejection.reason === 'version' &&
        outcome.rejection.table === auditHead.name;
      if (!isContended || attempt === MAX_ATTEMPTS) return outcome;
    }
  }

  /**
   * A change of a platform that the operator may not access is rejected before an approval is
   * requested.
   */
  async function checkedCommit(set: ChangeSet): Promise<Outcome> {
    assertPlatforms(set, request.operator);
    return commit(await check(set, count));
  }

  return {
    runtime: { ...baseRuntime, committer: { commit: checkedCommit } },
    async recordAccess(owners) {
      const outcome = await commit(emptyChangeSet(), owners);
      if (!outcome.ok) throw contentionFault('Too many concurrent requests were recorded.');
    },
    count: () => count,
    async isRepeated() {
      const { requestKey } = request;
      if (requestKey === undefined) return false;
      const where = { request_key: requestKey };
      return (await baseRuntime.db.find(operatorAudit, where, { limit: 1 })).length > 0;
    },
  };
}
