// Operator functions for strong customer authentication. Without a liveness service, the operator reviews the
// identity of the customer before a lost factor is removed. Each decision is recorded with operator and
// reason. Secrets of factors are never shown.

import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { equals, UNPAGED } from '../../../runtime/db/database.ts';
import { cursorOf, type PageInput } from '../../../runtime/db/paging.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { isUnderSca } from '../../customers/eligibility/index.ts';
import { type CustomerRow, customerById } from '../../customers/records/index.ts';
import { findExternalAccounts } from '../../payees/external-accounts/index.ts';
import { callerOf, readOwnPlatform } from '../../tenancy/platform/index.ts';
import type { OperatorCause } from '../events/index.ts';
import { lockoutOf } from '../lockout/index.ts';
import { enrolledFactors } from './factors/factors.ts';
import { decideReset, expireIfDue, isOpen } from './resets/resets.ts';
import { type ResetRow, scaFactors, scaResets } from './store.ts';

const timeOf = (time: Time | null | undefined) => (time == null ? null : iso(time));

type Reads = Pick<Ctx, 'read'>;

async function resetById({ read }: Reads, id: string): Promise<ResetRow> {
  const row = isId(id, 'ScaReset') ? await read(scaResets, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'Reset not found.');
  return row;
}

/** Runs `work` as system caller of the platform of a customer or a reset. */
const operateOnPlatform = async <R>(
  runtime: Runtime,
  { platform_id }: { platform_id: string },
  work: (ctx: Ctx) => Promise<R>,
): Promise<R> => operate(runtime, await callerOf(runtime.db, platform_id), work);

const presentReset = (row: ResetRow) => ({
  resetId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  factor: row.factor,
  status: row.status,
  createdAt: iso(row.created_at),
  expiresAt: iso(row.expires_at),
  completedAt: timeOf(row.completed_at),
});

interface SearchInput extends PageInput {
  status: string;
  platformId?: string | undefined;
  /** Last ID of the previous page. Alternative to `cursor`. */
  after?: string | undefined;
}

/**
 * A page of factor resets in a status, of one platform or all. Oldest first. Throws NOT_FOUND if `after` is
 * unknown.
 */
export async function searchFactorResets(
  { db }: Runtime,
  { status, platformId, after, cursor: pageCursor, limit }: SearchInput,
) {
  const filters = equals({ status, platform_id: platformId });
  const cursor = after === undefined ? pageCursor : cursorOf(await resetById(db, after));
  const { rows, ...rest } = await db.page(scaResets, { filters, sort: 'asc', limit, cursor });
  return { data: rows.map(presentReset), ...rest };
}

interface DecideInput {
  resetId: string;
  /** `pass`: the identity is confirmed and the factor can be removed. */
  decision: 'pass' | 'reject';
  by: OperatorCause;
}

/** Decides an open factor reset. Throws NOT_FOUND, CUSTOMER_DELETED and CONFLICT. */
export async function decideFactorReset(runtime: Runtime, { resetId, decision, by }: DecideInput) {
  const decidedReset = await operateOnPlatform(
    runtime,
    await resetById(runtime.db, resetId),
    async (ctx) => {
      const row = await resetById(ctx, resetId);
      const customer = await customerById(ctx, row.customer_id, { rejectDeleted: true });
      const currentState = expireIfDue(ctx, customer, row);
      if (currentState.status !== 'INITIATED' && currentState.status !== 'PENDING_REVIEW') {
        throw new Fault('CONFLICT', `The reset is ${currentState.status} and cannot be decided.`);
      }
      return decideReset(ctx, customer, currentState, decision, by);
    },
  );
  return presentReset(decidedReset);
}

async function factorsOf(ctx: Ctx, customer: CustomerRow) {
  const [names, rows] = await Promise.all([
    enrolledFactors(ctx, customer),
    ctx.db.find(scaFactors, { customer_id: customer.id }),
  ]);
  return names.map((factor) => {
    const row = rows.find(({ type }) => type === factor);
    return {
      factor,
      factorId: row?.id ?? null,
      enrolledAt: timeOf(row?.created_at),
      recoveryCodesLeft: factor === 'TOTP' ? (row?.recovery.length ?? 0) : null,
    };
  });
}

async function detailsOf(ctx: Ctx, customer: CustomerRow) {
  const customerFilter = { customer_id: customer.id };
  const platform = await readOwnPlatform(ctx);
  const [factors, lockout, resets, accounts] = await Promise.all([
    factorsOf(ctx, customer),
    lockoutOf(ctx, customer.id),
    ctx.db.find(scaResets, customerFilter, UNPAGED),
    findExternalAccounts(ctx.db, customerFilter, UNPAGED),
  ]);
  return {
    customerId: customer.id,
    platformId: customer.platform_id,
    isUnderSca: isUnderSca(ctx.vault, platform, customer),
    ...lockout,
    factors,
    openResets: resets.filter(isOpen).map(presentReset),
    trustedAccounts: accounts
      .filter((each) => each.trusted_at !== null && each.deleted_at === null)
      .map((each) => ({ accountId: each.id, trustedAt: timeOf(each.trusted_at) })),
  };
}

/** Factors, lockout, session, resets and trusted accounts of a customer. Throws CUSTOMER_NOT_FOUND. */
export const scaDetails = async (runtime: Runtime, customerId: string) =>
  operateOnPlatform(runtime, await customerById(runtime.db, customerId), async (ctx) =>
    detailsOf(ctx, await customerById(ctx, customerId)),
  );
