// Strong customer authentication, as an operator sees and decides it. Where no service checks liveness, a
// person does before a lost factor is cleared; a customer who is locked out can be unlocked. Each decision is
// kept with who decided and why. The facts of a factor are never shown.

import { Fault } from '../../kernel/fault.ts';
import { isId } from '../../kernel/id.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { ALL_OF_ONE, equals } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { isUnderSca } from '../customers/eligibility/index.ts';
import { type CustomerRow, dataKeyOf, readCustomer } from '../customers/records/index.ts';
import { findExternalAccounts } from '../payees/external-accounts/index.ts';
import { callerOf, ownPlatform } from '../tenancy/platform/index.ts';
import { type By, noteScaEvent } from './events.ts';
import { enrolledFactors } from './factors/factors.ts';
import { scaEventPersonal } from './personal.ts';
import { decideReset, isOpen, settledReset } from './resets/resets.ts';
import { presentStanding, unlock } from './standing.ts';
import {
  type ResetRow,
  type ScaEventRow,
  scaEvents,
  scaFactors,
  scaResets,
  scaStandings,
} from './store.ts';

const timeOf = (at: Time | null | undefined) => (at == null ? null : iso(at));

type Reads = Pick<Ctx, 'read'>;

async function customerById(reader: Reads, id: string): Promise<CustomerRow> {
  const row = isId(id, 'Customer') ? await readCustomer(reader, id) : undefined;
  if (!row) throw new Fault('CUSTOMER_NOT_FOUND', 'No such customer.');
  return row;
}

async function livingCustomer(reader: Reads, id: string): Promise<CustomerRow> {
  const row = await customerById(reader, id);
  if (row.deleted_at !== null) throw new Fault('CUSTOMER_DELETED', 'The customer was deleted.');
  return row;
}

async function resetById({ read }: Reads, id: string): Promise<ResetRow> {
  const row = isId(id, 'ScaReset') ? await read(scaResets, id) : undefined;
  if (!row) throw new Fault('NOT_FOUND', 'No such reset.');
  return row;
}

/** Runs `work` as the server itself on the platform of a customer or a reset. */
const onPlatform = async <R>(
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

interface SearchInput {
  status: string;
  platformId?: string | undefined;
  /** The last reset of the previous page. */
  after?: string | undefined;
  limit: number;
}

/** Factor resets in one state, of one platform or of all; oldest first. Throws NOT_FOUND. */
export async function searchFactorResets(
  { db }: Runtime,
  { status, platformId, after, limit }: SearchInput,
) {
  const filters = equals({ status, platform_id: platformId });
  const cursor = after === undefined ? undefined : cursorOf(await resetById(db, after));
  const { rows } = await db.page(scaResets, { filters, sort: 'asc', limit, cursor });
  return rows.map(presentReset);
}

interface DecideInput {
  resetId: string;
  /** `pass`: the customer was seen and the factor may be cleared. */
  decision: 'pass' | 'reject';
  by: By;
}

/** Decides a factor reset that is open. Throws NOT_FOUND, CUSTOMER_DELETED and CONFLICT. */
export async function decideFactorReset(runtime: Runtime, { resetId, decision, by }: DecideInput) {
  const decided = await onPlatform(runtime, await resetById(runtime.db, resetId), async (ctx) => {
    const row = await resetById(ctx, resetId);
    const customer = await livingCustomer(ctx, row.customer_id);
    const now = settledReset(ctx, customer, row);
    if (now.status !== 'INITIATED' && now.status !== 'PENDING_REVIEW') {
      throw new Fault('CONFLICT', `The reset is ${now.status}.`);
    }
    return decideReset(ctx, customer, now, decision, by);
  });
  return presentReset(decided);
}

const NEVER_FAILED = { suspended: false, lockedUntil: null, failedAttempts: 0 };

async function lockoutOf({ read, now }: Ctx, { id }: CustomerRow) {
  const row = await read(scaStandings, id);
  const session = row?.session_expires_at ?? null;
  return {
    ...(row ? presentStanding(row, now) : NEVER_FAILED),
    sessionExpiresAt: session !== null && now < session ? iso(session) : null,
  };
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
  const of = { customer_id: customer.id };
  const platform = await ownPlatform(ctx);
  const [factors, lockout, resets, accounts] = await Promise.all([
    factorsOf(ctx, customer),
    lockoutOf(ctx, customer),
    ctx.db.find(scaResets, of, ALL_OF_ONE),
    findExternalAccounts(ctx.db, of, ALL_OF_ONE),
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

/** A customer's factors, failures, login, open resets and trusted accounts. Throws CUSTOMER_NOT_FOUND. */
export const scaDetails = async (runtime: Runtime, customerId: string) =>
  onPlatform(runtime, await customerById(runtime.db, customerId), async (ctx) =>
    detailsOf(ctx, await customerById(ctx, customerId)),
  );

/** Removes a customer's failures, lock or suspension. Throws CUSTOMER_NOT_FOUND and CUSTOMER_DELETED. */
export async function unlockByHand(
  runtime: Runtime,
  { customerId, by }: { customerId: string; by: By },
) {
  const known = await customerById(runtime.db, customerId);
  const lockout = await onPlatform(runtime, known, async (ctx) => {
    const customer = await livingCustomer(ctx, customerId);
    noteScaEvent(ctx, customer, 'UNLOCKED', { by });
    return presentStanding(await unlock(ctx, customer.id), ctx.now);
  });
  return { customerId, ...lockout };
}

async function eventOf({ read }: Reads, customer: CustomerRow, id: string): Promise<ScaEventRow> {
  const row = isId(id, 'ScaEvent') ? await read(scaEvents, id) : undefined;
  if (row?.customer_id !== customer.id) throw new Fault('NOT_FOUND', 'No such event.');
  return row;
}

interface EventsInput {
  customerId: string;
  /** The last event of the previous page. */
  after?: string | undefined;
  limit: number;
}

/** Events of a customer's factors and logins, latest first. Throws CUSTOMER_NOT_FOUND and NOT_FOUND. */
export async function listScaEvents(
  { db, vault }: Runtime,
  { customerId, after, limit }: EventsInput,
) {
  const customer = await customerById(db, customerId);
  const key = dataKeyOf(customer);
  const filters = equals({ customer_id: customer.id });
  const cursor = after === undefined ? undefined : cursorOf(await eventOf(db, customer, after));
  const { rows } = await db.page(scaEvents, { filters, sort: 'desc', limit, cursor });
  return rows.map((row) => ({
    eventId: row.id,
    createdAt: iso(row.created_at),
    type: row.type,
    factor: row.factor,
    subject: row.subject,
    ipAddress: scaEventPersonal({ vault, key }, row).ip_address,
    actor: row.actor,
    reason: row.reason,
  }));
}
