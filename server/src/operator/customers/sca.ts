// `sca resets|pass-reset|reject-reset|show|unlock|events`: strong customer authentication by hand. Where no
// service looks at people, the operator does before a lost factor is cleared; and it helps a customer who was
// shut out. What is decided is kept with who decided and why. What a factor is made of is shown to nobody.
import {
  type CustomerRow,
  customers,
  dataKeyOf,
  isUnderSca,
} from '../../features/customers/records/index.ts';
import { findExternalAccounts } from '../../features/payees/external-accounts/index.ts';
import {
  type By,
  decideReset,
  enrolledFactors,
  isOpen,
  noteScaEvent,
  presentStanding,
  RESET_STATUSES,
  type ResetRow,
  type ScaEventRow,
  scaEventPersonal,
  scaEvents,
  scaFactors,
  scaResets,
  scaStandings,
  settledReset,
  unlock,
} from '../../features/sca/index.ts';
import { platforms, systemCaller } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { ALL_OF_ONE, equals, type Filter } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const timeOf = (at: Time | null | undefined) => (at == null ? null : iso(at));

const heads = (...names: string[]) => names.map((head) => ({ head }));

const byIn = (given: Given): By => ({
  actor: given.text('actor') ?? 'operator',
  reason: given.needed('reason'),
});

async function customerIn({ runtime }: System, id: string): Promise<CustomerRow> {
  const row = isId(id, 'Customer') ? await runtime.db.read(customers, id) : undefined;
  if (!row) throw notFound('customer');
  return row;
}

/** Runs `work` on a customer, as the server on its platform's behalf. */
async function onCustomer<R>(
  { runtime }: System,
  known: CustomerRow,
  work: (ctx: Ctx, customer: CustomerRow) => Promise<R>,
): Promise<R> {
  const platform = await runtime.db.read(platforms, known.platform_id);
  if (!platform) throw notFound('platform');
  return operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    const customer = await ctx.read(customers, known.id);
    if (!customer) throw notFound('customer');
    return work(ctx, customer);
  });
}

const resetView = (row: ResetRow) => ({
  resetId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  factor: row.factor,
  status: row.status,
  createdAt: iso(row.created_at),
  expiresAt: iso(row.expires_at),
  completedAt: timeOf(row.completed_at),
});

async function resetIn({ runtime }: System, id: string): Promise<ResetRow> {
  const row = isId(id, 'ScaReset') ? await runtime.db.read(scaResets, id) : undefined;
  if (!row) throw notFound('reset');
  return row;
}

async function resets(system: System, given: Given): Promise<Output> {
  const status = given.text('status') ?? 'PENDING_REVIEW';
  const filters: Filter<typeof scaResets>[] = [{ column: 'status', op: '=', value: status }];
  filters.push(...equals({ platform_id: await platformIn(system, given) }));
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await resetIn(system, after));
  const query = { filters, sort: 'asc', limit: limitIn(given), cursor } as const;
  const json = (await system.runtime.db.page(scaResets, query)).rows.map(resetView);
  const text = table(
    heads('SINCE', 'RESET', 'FACTOR', 'STATUS', 'EXPIRES', 'CUSTOMER', 'PLATFORM'),
    json.map((each) => [
      ...[each.createdAt, each.resetId, each.factor, each.status, each.expiresAt],
      ...[each.customerId, each.platformId],
    ]),
  );
  return { json, text };
}

async function decide(system: System, given: Given, move: 'pass' | 'reject'): Promise<Output> {
  const { id, customer_id } = await resetIn(system, given.needed('reset'));
  const known = await customerIn(system, customer_id);
  const decided = await onCustomer(system, known, async (ctx, customer) => {
    const row = await ctx.read(scaResets, id);
    if (!row) throw notFound('reset');
    if (customer.deleted_at !== null) throw refused('The customer was deleted.');
    const now = settledReset(ctx, customer, row);
    if (now.status !== 'INITIATED' && now.status !== 'PENDING_REVIEW') {
      throw refused(`The reset is ${now.status}.`);
    }
    return decideReset(ctx, customer, now, move, byIn(given));
  });
  const json = resetView(decided);
  const text = record([
    ['Reset', json.resetId],
    ['Customer', json.customerId],
    ['Factor', json.factor],
    ['Status', json.status],
    ['Expires', json.expiresAt],
  ]);
  return { json, text };
}

const NEVER_FAILED = { suspended: false, lockedUntil: null, failedAttempts: 0 };

async function standingOf({ db, now }: Ctx, { id }: CustomerRow) {
  const row = await db.read(scaStandings, id);
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

async function viewOf(ctx: Ctx, customer: CustomerRow) {
  const of = { customer_id: customer.id };
  const platform = await ctx.read(platforms, customer.platform_id);
  const [factors, standing, asked, accounts] = await Promise.all([
    factorsOf(ctx, customer),
    standingOf(ctx, customer),
    ctx.db.find(scaResets, of, ALL_OF_ONE),
    findExternalAccounts(ctx.db, of, ALL_OF_ONE),
  ]);
  return {
    customerId: customer.id,
    platformId: customer.platform_id,
    isUnderSca: platform !== undefined && isUnderSca(ctx.vault, platform, customer),
    ...standing,
    factors,
    openResets: asked.filter(isOpen).map(resetView),
    trustedAccounts: accounts
      .filter((each) => each.trusted_at !== null && each.deleted_at === null)
      .map((each) => ({ accountId: each.id, trustedAt: timeOf(each.trusted_at) })),
  };
}

async function show(system: System, given: Given): Promise<Output> {
  const customer = await customerIn(system, given.needed('customer'));
  const json = await onCustomer(system, customer, viewOf);
  const about = record([
    ['Customer', json.customerId],
    ['Platform', json.platformId],
    ['Strong authentication', json.isUnderSca ? 'applies' : 'does not apply'],
    ['Failures', String(json.failedAttempts)],
    ['Locked until', json.suspended ? 'suspended' : (json.lockedUntil ?? 'not locked')],
    ['Login counts until', json.sessionExpiresAt ?? 'none'],
  ]);
  const factors = table(
    heads('FACTOR', 'SINCE', 'ID', 'RECOVERY CODES'),
    json.factors.map(({ factor, enrolledAt, factorId, recoveryCodesLeft }) => [
      ...[factor, enrolledAt ?? '', factorId ?? '', String(recoveryCodesLeft ?? '')],
    ]),
  );
  const open = table(
    heads('RESET', 'FACTOR', 'STATUS', 'EXPIRES'),
    json.openResets.map((each) => [each.resetId, each.factor, each.status, each.expiresAt]),
  );
  const trusted = table(
    heads('ACCOUNT', 'TRUSTED SINCE'),
    json.trustedAccounts.map(({ accountId, trustedAt }) => [accountId, trustedAt ?? '']),
  );
  const text = `${about}\nFactors\n${factors}\nResets\n${open}\nTrusted accounts\n${trusted}`;
  return { json, text };
}

async function unlockOne(system: System, given: Given): Promise<Output> {
  const known = await customerIn(system, given.needed('customer'));
  const by = byIn(given);
  const standing = await onCustomer(system, known, async (ctx, customer) => {
    if (customer.deleted_at !== null) throw refused('The customer was deleted.');
    noteScaEvent(ctx, customer, 'UNLOCKED', { by });
    return presentStanding(await unlock(ctx, customer.id), ctx.now);
  });
  const json = { customerId: known.id, ...standing };
  return { json, text: `${known.id} is not locked and has no failures.\n` };
}

async function eventIn({ runtime }: System, customer: CustomerRow, id: string) {
  const row = isId(id, 'ScaEvent') ? await runtime.db.read(scaEvents, id) : undefined;
  if (row?.customer_id !== customer.id) throw notFound('event');
  return row;
}

async function events(system: System, given: Given): Promise<Output> {
  const { db, vault } = system.runtime;
  const customer = await customerIn(system, given.needed('customer'));
  const key = dataKeyOf(customer);
  const view = (row: ScaEventRow) => ({
    eventId: row.id,
    createdAt: iso(row.created_at),
    type: row.type,
    factor: row.factor,
    subject: row.subject,
    ipAddress: scaEventPersonal({ vault, key }, row).ip_address,
    actor: row.actor,
    reason: row.reason,
  });
  const filters: Filter[] = [{ column: 'customer_id', op: '=', value: customer.id }];
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await eventIn(system, customer, after));
  const query = { filters, sort: 'desc', limit: limitIn(given), cursor } as const;
  const json = (await db.page(scaEvents, query)).rows.map(view);
  const text = table(
    heads('AT', 'EVENT', 'FACTOR', 'ABOUT', 'FROM', 'WHO', 'REASON'),
    json.map((each) => [
      ...[each.createdAt, each.type, each.factor ?? '', each.subject ?? ''],
      ...[each.ipAddress ?? '', each.actor ?? '', each.reason ?? ''],
    ]),
  );
  return { json, text };
}

const CUSTOMER: Flags = {
  customer: { value: 'CUSTOMER', required: true, help: 'Id of the customer' },
};
const WHY: Flags = {
  reason: { value: 'TEXT', required: true, help: 'Why, for those who look later' },
  actor: { value: 'NAME', help: 'Who decides (operator)' },
};

const decider = (verb: string, move: 'pass' | 'reject', summary: string): Verb => ({
  noun: 'sca',
  verb,
  summary,
  flags: { reset: { value: 'RESET', required: true, help: 'Id of the reset' }, ...WHY },
  bare: 'reset',
  run: (system, given) => decide(system, given, move),
});

const LIST_FLAGS: Flags = {
  platform: { value: 'PLATFORM', help: 'Only those of this platform' },
  status: {
    value: 'STATUS',
    choices: RESET_STATUSES,
    help: 'Those in this state; those that wait for a person unless given',
  },
  ...LIMIT,
  after: { value: 'RESET', help: 'Go on behind this reset, the last of a list before' },
};

const EVENT_FLAGS: Flags = {
  ...CUSTOMER,
  ...LIMIT,
  after: { value: 'EVENT', help: 'Go on behind this event, the last of a list before' },
};

const verb = (name: string, summary: string, flags: Flags, run: Verb['run'], bare = 'customer') =>
  ({ noun: 'sca', verb: name, summary, flags, bare, run }) satisfies Verb;

export const scaVerbs: readonly Verb[] = [
  verb('resets', 'List resets of lost factors, oldest first', LIST_FLAGS, resets, 'platform'),
  decider('pass-reset', 'pass', 'Say that the customer was seen: the factor may be cleared'),
  decider('reject-reset', 'reject', 'Say that it was not the customer who asked'),
  verb('show', 'Show factors, failures, login and trusted accounts', CUSTOMER, show),
  verb('unlock', 'Forget failures, lift lock or suspension', { ...CUSTOMER, ...WHY }, unlockOne),
  verb('events', 'List what happened, latest first, with addresses', EVENT_FLAGS, events),
];
