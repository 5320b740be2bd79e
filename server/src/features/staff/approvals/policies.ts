// Approval policies. A policy selects the changes that require approval, by operation, platform and
// amount.
import type { Operator } from '../../../kernel/caller.ts';
import { iso } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { ChangeSet } from '../../../runtime/committer/change-set.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { INSTALLATION } from '../../tenancy/platform/index.ts';
import { ownersOf } from '../audit/index.ts';
import { approvalPolicies, type PolicyRow } from './store.ts';

export interface NewPolicy {
  operationId: string;
  /** Absent: every platform. */
  platformId?: string | undefined;
  /** Minimum posting to which the policy applies, in minor units. Absent: every change. */
  minimum?: { amount: number; currency: string } | undefined;
  /** Hours after which an undecided request expires. */
  hours: number;
}

const presentPolicy = (row: PolicyRow) => ({
  id: row.id,
  operationId: row.operation_id,
  ...(row.platform_id === null ? {} : { platformId: row.platform_id }),
  ...(row.amount === null || row.currency === null
    ? {}
    : { minimum: { amount: Number(row.amount), currency: row.currency } }),
  hours: row.hours,
  createdBy: row.created_by,
  createdAt: iso(row.created_at),
});

export const createPolicy = (runtime: Runtime, creator: Operator, policy: NewPolicy) =>
  operate(runtime, INSTALLATION, async (ctx) => {
    const { operationId, platformId, minimum, hours } = policy;
    const row = ctx.insert(approvalPolicies, {
      id: ctx.id('ApprovalPolicy'),
      operation_id: operationId,
      platform_id: platformId ?? null,
      currency: minimum?.currency ?? null,
      amount: minimum ? BigInt(minimum.amount) : null,
      hours,
      created_by: creator.id,
      created_at: ctx.now,
      updated_at: ctx.now,
    });
    return presentPolicy(row);
  });

/** A page of policies, newest first. */
export async function listPolicies(
  { db }: Pick<Runtime, 'db'>,
  { limit = 20, cursor }: { limit?: number; cursor?: string },
) {
  const query = { filters: [], sort: 'desc' as const, limit, cursor };
  const { rows, ...rest } = await db.page(approvalPolicies, query);
  return { data: rows.map(presentPolicy), ...rest };
}

async function policyById({ read }: Pick<Ctx, 'read'>, id: string): Promise<PolicyRow> {
  const row = isId(id, 'ApprovalPolicy') ? await read(approvalPolicies, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Approval policy not found.');
  return row;
}

/** Removes a policy. Throws NOT_FOUND. */
export const removePolicy = (runtime: Runtime, id: string) =>
  operate(runtime, INSTALLATION, async (ctx) => {
    const row = await policyById(ctx, id);
    ctx.remove(approvalPolicies, row);
    return presentPolicy(row);
  });

const includesMinimum = ({ currency, amount }: PolicyRow, { transfers }: ChangeSet): boolean =>
  amount === null || transfers.some((each) => each.currency === currency && each.amount >= amount);

/**
 * The policy that applies to a change set. Of several policies, the one with the shortest expiry.
 */
export async function matchingPolicy(
  db: Pick<Database, 'find'>,
  operationId: string,
  set: ChangeSet,
): Promise<PolicyRow | undefined> {
  const policies = await db.find(approvalPolicies, { operation_id: operationId });
  // A change of several platforms requires approval if the policy applies to one of the platforms.
  const { platformIds } = ownersOf(set);
  return policies
    .filter(({ platform_id }) => platform_id === null || platformIds.has(platform_id))
    .filter((each) => includesMinimum(each, set))
    .sort((a, b) => a.hours - b.hours)[0];
}
