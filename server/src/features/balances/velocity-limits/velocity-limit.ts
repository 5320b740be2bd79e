// What may be used up in a period: what a platform sends in a day, what an agent spends. It is kept in
// units of its own beside the money: an account for each allowance and period that begins at zero and whose
// floor is the limit below zero. So a limit is as exact as a balance, whoever pays at the same moment and
// through whichever process.

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
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readLedgerAccount } from '../ledger-accounts/index.ts';

export interface VelocityLimit {
  /** Whose it is, of what and for when; its account is named by it (`velocityLimitOf` of the chart). */
  of: string;
  /** A currency, counted in its smallest units, or another word for what is counted. */
  unit: string;
  /** Null where it is counted and not limited. */
  limit: bigint | null;
  /** The limit differs from one payment to the next, so it is set anew for each. */
  shifting?: boolean;
}

const accountOf = ({ of }: Pick<VelocityLimit, 'of'>) => velocityLimitAccount(of);

/** Sums of a currency do not see it. */
const currencyOf = (unit: string) => VELOCITY_UNIT + unit;

const floorOf = ({ limit }: VelocityLimit) => (limit === null ? null : limit < 0n ? 0n : -limit);

/**
 * Floors found in place, by account and the version of what they were read from. They are looked at again
 * every minute: another process may have put one back that it read before the limit was changed.
 */
interface Known {
  since: number;
  floors: Map<string, bigint | null>;
}

const REMEMBER_MS = 60_000;

const knownIn = new WeakMap<Database, Known>();

function floorsOf(db: Database, now: Time): Map<string, bigint | null> {
  const since = now - (now % REMEMBER_MS);
  let known = knownIn.get(db);
  if (known?.since !== since) {
    known = { since, floors: new Map() };
    knownIn.set(db, known);
  }
  return known.floors;
}

/**
 * Opens accounts, or sets their floors to limits that have changed. It is done ahead of the commit and by
 * itself, because it must be there for the movement and may be there without one. Whoever gives a `basis`
 * requires it too: then a change of a limit and a movement cannot cross.
 */
export async function openVelocityLimits(
  ctx: Ctx,
  all: readonly VelocityLimit[],
  basis?: FloorBasis,
): Promise<void> {
  if (all.length === 0) return;
  const floors = floorsOf(ctx.db, ctx.now);
  const units = [...new Set(all.map((each) => each.unit))];
  const counters = units.map((unit) => ({
    id: velocityCounterAccount(ctx.caller.environment, unit),
    unit,
    floor: null,
    shifting: false,
  }));
  const own = all.map((each) => ({
    id: accountOf(each),
    unit: each.unit,
    floor: floorOf(each),
    shifting: each.shifting === true,
  }));
  const keyOf = (id: string) => (basis ? `${id} ${basis.version}` : id);
  const wanted = [...counters, ...own].filter(
    ({ id, floor, shifting }) => shifting || floors.get(keyOf(id)) !== floor,
  );
  if (wanted.length === 0) return;
  // A limit that was lowered below what the period has seen takes the rest away, and no more than that.
  const accounts = wanted.map(({ unit, ...each }) => ({ ...each, currency: currencyOf(unit) }));
  const changed = await setFloors(ctx.db, accounts, ctx.now, basis);
  const set = new Map(changed.map((each) => [each.id, each.floor]));
  for (const { id, floor } of wanted) {
    // One that could not be set as low as it should be is tried again at the next payment.
    if (!set.has(id) || set.get(id) === floor) floors.set(keyOf(id), floor);
  }
}

export interface Usage {
  /** The payment that uses it up. */
  transactionId: string;
  /** Which of the payment's takings; one of each kind may be without a name. */
  name?: string | undefined;
  /** Whether it is given back when the payment's money goes back. */
  comesBack: boolean;
  amount: bigint;
  /** What it means when the allowance does not suffice. */
  insufficientFundsFault: () => Fault;
  /** When it does not suffice, the operation decides once more with fresh reads. */
  retryOnInsufficientFunds: boolean;
}

/** What steps begin with, which tells from all others those that come back. */
const GIVEN_BACK = 'velocity';
const KEPT = 'count';

/** Stages that so much of an allowance is used up, which must be open. */
export function countUsage(
  ctx: Ctx,
  allowance: VelocityLimit,
  { name, comesBack, ...taking }: Usage,
): void {
  const kind = comesBack ? GIVEN_BACK : KEPT;
  ctx.transfer({
    ...taking,
    step: name === undefined ? kind : `${kind}.${name}`,
    debit: accountOf(allowance),
    credit: velocityCounterAccount(ctx.caller.environment, allowance.unit),
    currency: currencyOf(allowance.unit),
  });
}

/** What was used up by now. */
export async function usedOf(ctx: Ctx, allowance: Pick<VelocityLimit, 'of'>): Promise<bigint> {
  const row = await readLedgerAccount(ctx, accountOf(allowance));
  return row ? row.held - row.balance : 0n;
}

/** Whether an open allowance has room for so much more. Until the commit somebody else may take it. */
export async function hasLeft(
  ctx: Ctx,
  allowance: VelocityLimit,
  amount: bigint,
): Promise<boolean> {
  const row = await readLedgerAccount(ctx, accountOf(allowance));
  return !row || row.floor === null || row.balance - row.held - amount >= row.floor;
}

/** Gives back what a payment used up, whenever that was: for a payment that is refunded. */
export async function reverseUsage(ctx: Ctx, { id }: { id: string }): Promise<void> {
  const taken = await transfersInStep(ctx.db, id, GIVEN_BACK);
  for (const { step, debit, credit, currency, amount } of taken) {
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
