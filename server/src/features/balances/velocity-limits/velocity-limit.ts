// Velocity limits, such as the amount that a platform sends or an agent spends in a day. Usage is
// counted in the ledger in separate units. Each limit and period has an account that starts at
// zero, with the negative limit as its floor. A limit is therefore as exact as a balance under
// concurrency, across processes.

import type { Time } from '../../../kernel/effects.ts';
import type { Fault } from '../../../kernel/fault.ts';
import {
  VELOCITY_UNIT,
  velocityCounterAccount,
  velocityLimitAccount,
} from '../../../ledger/chart.ts';
import { type FloorBasis, setFloors } from '../../../runtime/committer/ledger-accounts.ts';
import { transfersInStep } from '../../../runtime/committer/ledger-reads.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import { readLedgerAccount } from '../ledger-accounts/index.ts';

export interface VelocityLimit {
  /** Owner, scope and period. The name of the account (`velocityLimitOf` of the chart). */
  limitId: string;
  /** A currency, counted in minor units, or another counted unit. */
  unit: string;
  /** Null if usage is counted without a limit. */
  limit: bigint | null;
  /** Whether the limit differs between payments and is therefore set for each payment. */
  isPerPayment?: boolean;
}

const accountOf = ({ limitId }: Pick<VelocityLimit, 'limitId'>) => velocityLimitAccount(limitId);

/** The ledger currency of a velocity unit. The export of postings excludes it. */
const currencyOf = (unit: string) => VELOCITY_UNIT + unit;

const floorOf = ({ limit }: VelocityLimit) => (limit === null ? null : limit < 0n ? 0n : -limit);

/**
 * Cached floors, by account and version of the basis. A floor is cached for at most two seconds,
 * because another process can have restored an earlier floor.
 */
interface FloorCache {
  since: number;
  floors: Map<string, bigint | null>;
}

const CACHE_MS = 2_000;

const floorCaches = new WeakMap<Database, FloorCache>();

function floorsOf(db: Database, now: Time): Map<string, bigint | null> {
  const since = now - (now % CACHE_MS);
  let cachedFloors = floorCaches.get(db);
  if (cachedFloors?.since !== since) {
    cachedFloors = { since, floors: new Map() };
    floorCaches.set(db, cachedFloors);
  }
  return cachedFloors.floors;
}

/**
 * Opens accounts, or sets their floors to changed limits. Runs before the commit in a separate
 * transaction, because the accounts must exist for the postings. A caller with a `basis` also
 * requires that this row is unchanged, so that a change of a limit and a posting cannot interleave.
 */
export async function openVelocityLimits(
  ctx: Ctx,
  limits: readonly VelocityLimit[],
  basis?: FloorBasis,
): Promise<void> {
  if (limits.length === 0) return;
  const floors = floorsOf(ctx.db, ctx.now);
  const units = [...new Set(limits.map((each) => each.unit))];
  const counterAccounts = units.map((unit) => ({
    id: velocityCounterAccount(ctx.caller.environment, unit),
    unit,
    floor: null,
    isPerPayment: false,
  }));
  const limitAccounts = limits.map((velocityLimit) => ({
    id: accountOf(velocityLimit),
    unit: velocityLimit.unit,
    floor: floorOf(velocityLimit),
    isPerPayment: velocityLimit.isPerPayment === true,
  }));
  const keyOf = (id: string) => (basis ? `${id} ${basis.version}` : id);
  const outdatedAccounts = [...counterAccounts, ...limitAccounts].filter(
    ({ id, floor, isPerPayment }) => isPerPayment || floors.get(keyOf(id)) !== floor,
  );
  if (outdatedAccounts.length === 0) return;
  // A limit below the usage of the period leaves no remainder. Usage is unchanged.
  const accounts = outdatedAccounts.map(({ unit, ...each }) => ({
    ...each,
    currency: currencyOf(unit),
  }));
  const changedFloors = await setFloors(ctx.db, accounts, ctx.now, basis);
  const floorsById = new Map(changedFloors.map((each) => [each.id, each.floor]));
  for (const { id, floor } of outdatedAccounts) {
    // A floor that could not be set to the limit is set again at the next payment.
    if (!floorsById.has(id) || floorsById.get(id) === floor) floors.set(keyOf(id), floor);
  }
}

export interface Usage {
  transactionId: string;
  /** Distinguishes several usages of one payment. Optional for one usage of each kind. */
  name?: string | undefined;
  /** Whether the usage is reversed when the payment is refunded. */
  reversible: boolean;
  amount: bigint;
  /** Creates the error if the usage would exceed the limit. */
  insufficientFundsFault: () => Fault;
  /** Whether the operation runs again with new reads if the usage would exceed the limit. */
  retryOnInsufficientFunds: boolean;
}

/** Prefixes of the steps of reversible and permanent usage. */
const REVERSIBLE_PREFIX = 'velocity';
const PERMANENT_PREFIX = 'count';

/** Stages usage of a limit whose account is open. */
export function countUsage(
  ctx: Ctx,
  velocityLimit: VelocityLimit,
  { name, reversible, ...usage }: Usage,
): void {
  const kind = reversible ? REVERSIBLE_PREFIX : PERMANENT_PREFIX;
  ctx.transfer({
    ...usage,
    step: name === undefined ? kind : `${kind}.${name}`,
    debit: accountOf(velocityLimit),
    credit: velocityCounterAccount(ctx.caller.environment, velocityLimit.unit),
    currency: currencyOf(velocityLimit.unit),
  });
}

/** The current usage. */
export async function usedOf(
  reader: Reader,
  velocityLimit: Pick<VelocityLimit, 'limitId'>,
): Promise<bigint> {
  const row = await readLedgerAccount(reader, accountOf(velocityLimit));
  return row ? row.held - row.balance : 0n;
}

/** Whether the limit allows this amount now. Concurrent usage can still exhaust it. */
export async function hasRemaining(
  ctx: Ctx,
  velocityLimit: VelocityLimit,
  amount: bigint,
): Promise<boolean> {
  const row = await readLedgerAccount(ctx, accountOf(velocityLimit));
  return !row || row.floor === null || row.balance - row.held - amount >= row.floor;
}

/** Reverses the usage of a payment that is refunded. */
export async function reverseUsage(ctx: Ctx, { id }: { id: string }): Promise<void> {
  const countedTransfers = await transfersInStep(ctx.db, id, REVERSIBLE_PREFIX);
  for (const { step, debit, credit, currency, amount } of countedTransfers) {
    ctx.transfer({
      transactionId: id,
      step: `refund.${step}`,
      debit: credit,
      credit: debit,
      currency,
      amount,
    });
  }
}
