// Erasing a customer. The first change set forgets the data key and with it everything that was sealed, and
// takes out what lies in clear beside it: from then on the customer is erased for all who look. What can be
// long (payments, events) is emptied after it in short statements, each of which leaves alone what one before
// has done; an erasure that is cut short has no finish in its row and goes on when it is run again.
import { endOneAgent } from '../../features/agents/index.ts';
import { closeOneCard } from '../../features/cards/index.ts';
import { eraseDocuments } from '../../features/customers/documents/index.ts';
import { eraseInvitations } from '../../features/customers/invitations/index.ts';
import { customers, eraseCustomer, tombstoneOf } from '../../features/customers/records/index.ts';
import { eraseMessages } from '../../features/notifications/messages/index.ts';
import { platforms, systemCaller } from '../../features/tenancy/platform/index.ts';
import { eraseWallets } from '../../features/wallets/accounts/index.ts';
import type { Time } from '../../kernel/world.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { notFound } from '../cli/verb.ts';
import { ERASED, isOwned, OWNED } from './personal-data.ts';

export const erasures = table('erasures', {
  /** The customer's. */
  id: col.text,
  platform_id: col.text,
  actor: col.text,
  reason: col.text.null,
  /** How many rows of each table were emptied or removed. */
  counts: col.json<Record<string, number>>().mut,
  created_at: col.time,
  /** Null while it is under way, or when it was cut short. */
  finished_at: col.time.null.mut,
  version: col.int4,
});

export type ErasureRow = RowOf<typeof erasures>;

/** Who asked for it, for those who look later. */
export interface Asked {
  actor: string;
  reason: string | null;
}

const AT_ONCE = 500;
/** Most of them are others', so more events are looked at. */
const EVENTS_AT_ONCE = 2_000;

/** What stays of one end of a payment: which kind it is, our ids, the currency; never who it was. */
const partyOf = (column: string) => `case when json_typeof(${column}) = 'object' then (
    select json_object_agg(key,
      case key when 'umaAddress' then to_json('${ERASED}'::text) else value end)
    from json_each(${column}) where key in
      ('sourceType', 'destinationType', 'accountId', 'customerId', 'currency', 'umaAddress'))
  else ${column} end`;

/** A payment with a card without who was paid. */
const merchantless = (column: string) => `case when json_typeof(${column}) = 'object' then
    (${column}::jsonb || '{"merchant": {"descriptor": "${ERASED}"}}')::json end`;

const ownId = (column: string) =>
  `case when ${column} ~ '^(Internal|External)Account:' then ${column} end`;

// $1 the customer, $2 its tombstone, $3 and $4 the place in the order after which to go on.
const PAYMENTS = `with batch as (
    select id, quote_id, created_at from transactions
    where customer_id = $1 and (created_at, id) > ($3::timestamptz, $4::text)
    order by created_at, id limit ${AT_ONCE}
  ), priced as (
    update quotes q set source = ${partyOf('q.source')}, destination = ${partyOf('q.destination')},
      description = null
    from batch b where q.id = b.quote_id
  ), done as (
    update transactions t set platform_customer_id = $2, source = ${partyOf('t.source')},
      destination = ${partyOf('t.destination')}, source_account = ${ownId('t.source_account')},
      destination_account = ${ownId('t.destination_account')}, description = null,
      remittance = null, purpose = null, counterparty = null, carrier = null,
      requested_fields = null, instructions = null, source_chain = null,
      destination_chain = null, card = ${merchantless('t.card')}, version = t.version + 1
    from batch b where t.id = b.id
  )
  select created_at as at, id, quote_id is not null as quoted from batch order by created_at, id`;

// The key's order is that of time, so what is older than the customer is not looked at. An emptied event
// counts as sealed for the customer: nobody can read it, and it is not sent. No index has events by what they
// are about: all are walked past, whoever's they are, so many at a time, however much the customer has.
const EVENTS = `with seen as (
    select e.id, e.platform_id = $2 and e.data <> '' and (e.sealed_for = $1
      or ${isOwned('e.subject')}) as theirs
    from events e where e.id > $3 order by e.id limit ${EVENTS_AT_ONCE}
  ), batch as (
    select id from seen where theirs
  ), quiet as (
    update webhook_attempts a set response = null from batch b
    where a.id > b.id || '/' and a.id < b.id || '0' and a.response is not null
  ), done as (
    update events e set data = '', sealed_for = $1, due_at = null
    from batch b where e.id = b.id
  )
  select max(id) as last, count(*)::int as seen, count(*) filter (where theirs)::int as emptied
  from seen`;

const ACCOUNTS = `update external_accounts a set version = version + 1, platform_account_id = null,
    verified_name = null, default_uma = false, trusted_at = null, updated_at = $2,
    deleted_at = coalesce(deleted_at, $2), duplicate_key = '${ERASED} ' || id,
    info = json_build_object('accountType', account_type)
  where customer_id = $1 and duplicate_key <> '${ERASED} ' || id returning id`;

const CHALLENGES = `delete from ownership_challenges where id in
  (select id from external_accounts where customer_id = $1) returning id`;

const LOOKUPS = `delete from lookups where customer_id = $1 or receiver_customer_id = $1
  or receiver in (select id from external_accounts where customer_id = $1) returning id`;

const LINKS = 'delete from kyc_links where customer_id = $1 returning id';
const STANDINGS = 'delete from sca_standings where id = $1 returning id';
const REASONS = `update agent_actions set rejection_reason = null, version = version + 1
  where customer_id = $1 and rejection_reason is not null returning id`;
const CARDS = `update cards set secret = null, last4 = null, exp_month = null, exp_year = null,
    platform_card_id = '${ERASED} ' || id, version = version + 1
  where customer_id = $1 and platform_card_id <> '${ERASED} ' || id returning id`;
const MERCHANTS = `update card_messages set merchant = null
  where customer_id = $1 and json_typeof(merchant) = 'object' returning id`;
const ofCustomer = (table: string) => `delete from ${table} where customer_id = $1 returning id`;
// A code's keyed hash has in it where it was sent. The ids are those of the features that send it.
const CODES = `delete from codes where id in (
    select 'otp ' || id from credentials where customer_id = $1
    union all select 'sca ' || id from sca_challenges where customer_id = $1
    union all values ('contact email ' || $1), ('contact phone ' || $1)) returning id`;
const FINDINGS = `update verifications set findings = null, version = version + 1
  where customer_id = $1 and findings is not null returning id`;

// Replies that are kept in clear under an idempotency key. Those that are sealed are gone within a week.
const REPLIES = `with owned as (${OWNED})
  delete from idempotency i where i.id > $2 || ' ' and i.id < $2 || '!' and (
    starts_with(i.id, $2 || ' POST /customers/' || $1 || '/')
    or case when i.reply like '{%' then i.reply::json->>'id' in (select id from owned)
      or i.reply::json->>'transactionId' in (select id from owned) end)
  returning id`;

// What imports say of a row goes by the platform's own id of the customer.
const IMPORT_ERRORS = `select e.id, i.id as import, i.completed_at as at
  from import_errors e join imports i on i.id = e.import_id
  where i.platform_id = $1 and e.correlation_id = $2`;
const IMPORT_EVENT = `update events set data = replace(data, $5, $6)
  where platform_id = $1 and subject = $2 and id > $3 and id < $4`;
const NAMELESS = `update import_errors set correlation_id = 'row_' || row where id = any($1::text[])`;

const DAY_MS = 86_400_000;

const INVITATIONS = `update invitations set version = version + 1,
    inviter_uma = case when customer_id = $1 then $2 else inviter_uma end,
    invitee_uma = case when invitee_customer_id = $1 then $2 else invitee_uma end
  where (customer_id = $1 and inviter_uma <> $2) or (invitee_customer_id = $1 and invitee_uma <> $2)
  returning id`;

/** An event id before every one that was made from `at` on. */
export function eventsFrom(at: Time): string {
  // Clocks of several processes differ a little.
  const hex = Math.max(0, at - DAY_MS)
    .toString(16)
    .padStart(12, '0');
  return `Webhook:${hex.slice(0, 8)}-${hex.slice(8)}`;
}

interface Emptied {
  at: Time;
  id: string;
  quoted: boolean;
}

async function emptyPayments({ db }: Runtime, id: string) {
  const counts = { transactions: 0, quotes: 0 };
  let [at, after]: [Time, string] = [0, ''];
  for (;;) {
    const values = [id, tombstoneOf(id), new Date(at), after];
    const rows = await db.query<Emptied & object>(PAYMENTS, values);
    counts.transactions += rows.length;
    counts.quotes += rows.filter((row) => row.quoted).length;
    const last = rows.at(-1);
    if (!last || rows.length < AT_ONCE) return counts;
    [at, after] = [last.at, last.id];
  }
}

interface Walked {
  last: string | null;
  seen: number;
  emptied: number;
}

async function emptyEvents({ db }: Runtime, row: Registered): Promise<number> {
  let after = eventsFrom(row.created_at);
  for (let count = 0; ; ) {
    const [walked] = await db.query<Walked>(EVENTS, [row.id, row.platform_id, after]);
    const { last, seen, emptied } = walked as Walked;
    count += emptied;
    if (last === null || seen < EVENTS_AT_ONCE) return count;
    after = last;
  }
}

type Registered = Pick<RowOf<typeof customers>, 'id' | 'platform_id' | 'created_at'>;

const correlation = (id: string) => `"correlationId":${JSON.stringify(id)}`;

/** Has to come before the platform's own id is forgotten; answers how many rows it was about. */
async function emptyImports({ db }: Runtime, row: RowOf<typeof customers>): Promise<number> {
  const { platform_id: platform, platform_customer_id: id } = row;
  const errors = await db.query<{ id: string; import: string; at: Time | null }>(IMPORT_ERRORS, [
    ...[platform, id],
  ]);
  const ends = new Map(errors.map((each) => [each.import, each.at]));
  for (const [subject, at] of ends) {
    if (at === null) continue;
    const span = [eventsFrom(at), eventsFrom(at + 2 * DAY_MS)];
    const texts = [correlation(id), correlation(ERASED)];
    await db.query(IMPORT_EVENT, [platform, subject, ...span, ...texts]);
  }
  await db.query(NAMELESS, [errors.map((each) => each.id)]);
  return errors.length;
}

/** Everything after the first change set, in the order in which it is done. */
async function emptyTables(runtime: Runtime, row: Registered): Promise<Record<string, number>> {
  const { db, world } = runtime;
  const now = new Date(world.now());
  const run = async (sql: string, values: unknown[] = [row.id]) =>
    (await db.query(sql, values)).length;
  return {
    ownership_challenges: await run(CHALLENGES),
    lookups: await run(LOOKUPS),
    kyc_links: await run(LINKS),
    invitations: await run(INVITATIONS, [row.id, tombstoneOf(row.id)]),
    wallet_sessions: await run(ofCustomer('wallet_sessions')),
    wallet_requests: await run(ofCustomer('wallet_requests')),
    otp_targets: await run(ofCustomer('otp_targets')),
    codes: await run(CODES),
    sca_standings: await run(STANDINGS),
    sca_factors: await run(ofCustomer('sca_factors')),
    sca_enrollments: await run(ofCustomer('sca_enrollments')),
    sca_challenges: await run(ofCustomer('sca_challenges')),
    sca_resets: await run(ofCustomer('sca_resets')),
    agents: await run(ofCustomer('agents')),
    agent_actions: await run(REASONS),
    cards: await run(CARDS),
    delegated_keys: await run(ofCustomer('delegated_keys')),
    verifications: await run(FINDINGS),
    external_accounts: await run(ACCOUNTS, [row.id, now]),
    ...(await emptyPayments(runtime, row.id)),
    // A message names the merchant that its payment's row has, which it leans on: so none comes behind this.
    card_messages: await run(MERCHANTS),
    events: await emptyEvents(runtime, row),
    idempotency: await run(REPLIES, [row.id, row.platform_id]),
  };
}

const COUNTED = [
  'customers',
  'beneficial_owners',
  'documents',
  'messages',
  'wallets',
  'credentials',
] as const;

/** How many rows of the tables that the first change set empties. */
async function countsOf({ db }: Ctx, id: string): Promise<Record<string, number>> {
  const columns = COUNTED.map(
    (name) =>
      `(select count(*)::int from ${name} where ${name === 'customers' ? 'id' : 'customer_id'} = $1)
        as ${name}`,
  );
  const [counts] = await db.query(`select ${columns.join(', ')}`, [id]);
  return counts as Record<string, number>;
}

async function forget(ctx: Ctx, id: string, { actor, reason }: Asked): Promise<ErasureRow> {
  const row = await ctx.read(customers, id);
  if (!row) throw notFound('customer');
  if (row.deleted_at === null) {
    throw new Error('The customer is not deleted. Its platform has to delete it first.');
  }
  const known = await ctx.read(erasures, id);
  if (known) return known;
  const counts = await countsOf(ctx, id);
  await eraseDocuments(ctx, row);
  await eraseMessages(ctx, id);
  await eraseInvitations(ctx, id);
  await eraseWallets(ctx, id);
  await eraseCustomer(ctx, row);
  const { platform_id } = row;
  const began = { id, platform_id, actor, reason, counts, created_at: ctx.now };
  return ctx.insert(erasures, began);
}

/** Erases a deleted customer, or goes on with it; once it is finished nothing changes any more. */
export async function erase(runtime: Runtime, id: string, asked: Asked): Promise<ErasureRow> {
  const row = await runtime.db.read(customers, id);
  const platform = row && (await runtime.db.read(platforms, row.platform_id));
  if (!row || !platform) throw notFound('customer');
  const caller = systemCaller(platform.id, platform.environment);
  // The jobs that do it may not have run, and what waits with an agent that is gone would wait for ever.
  let hasAgents = row.deleted_at !== null;
  while (hasAgents) hasAgents = await operate(runtime, caller, (ctx) => endOneAgent(ctx, id));
  let hasCards = row.deleted_at !== null;
  while (hasCards) hasCards = await operate(runtime, caller, (ctx) => closeOneCard(ctx, id));
  const import_errors = row.deleted_at === null ? 0 : await emptyImports(runtime, row);
  const began = await operate(runtime, caller, (ctx) => forget(ctx, id, asked));
  // Also of a finished one: an old process may have written an event in clear since.
  const more = { import_errors, ...(await emptyTables(runtime, row)) };
  if (began.finished_at !== null) return began;
  return operate(runtime, caller, async (ctx) => {
    const now = (await ctx.read(erasures, id)) ?? began;
    if (now.finished_at !== null) return now;
    const counts = { ...now.counts, ...more };
    return ctx.update(erasures, now, { counts, finished_at: ctx.now });
  });
}
