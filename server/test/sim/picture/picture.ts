// What is in the database, kept up to date from a diary that the database itself writes: triggers note every
// row that is inserted, changed or removed, whoever does it. So a step costs what it changed and not what is
// there, a move from one status to another cannot hide behind the next, and the order is that of the commits.
import pg from 'pg';
import { type Agency, applyAgencyNote, emptyAgency } from './agency.ts';
import { applyCardNote, type CardBook, emptyCardBook } from './card-book.ts';
import { applyCoinNote, type CoinBook, emptyCoinBook, noteMoved } from './coin-book.ts';
import { applyHolderNote, type Holding } from './holdings.ts';
import { applyStrengthNote, emptyStrength, type Strength } from './strength.ts';

type Text = string | null;

/** A row as the diary has it: every value as text. */
export type Noted = Record<string, Text>;

/** One row of a table that came, changed or went. */
export interface Note {
  table: string;
  was: Noted | null;
  now: Noted | null;
}

/** The tables that are watched, with the columns that matter. */
const WATCHED: Readonly<Record<string, string>> = {
  ledger_accounts: 'id currency balance held floor shut',
  ledger_transfers: 'transaction_id step phase debit credit currency amount',
  transactions: `id platform_id customer_id type status funds source_account destination_account
    sent_amount sent_currency received_amount received_currency fees platform_fees
    platform_fee_account funded_amount quote_id settled_at failure_reason refund origin
    cancel_requested_at agent_id direction card card_authorized card_closed card_clearings
    card_refunds card_funding_debits card_funding_debit_statuses card_released card_written_off
    card_recovered card_undone_clearings card_reversed_refunds card_last_event_at created_at`,
  quotes: 'id transaction_id expires_at',
  jobs: 'id kind input due_at version',
  events: 'id platform_id type subject account balance held due_at attempts',
  webhook_attempts: 'event_id attempt result status',
  internal_accounts: 'id platform_id customer_id currency type status owed',
  platforms: 'id environment webhook_endpoint limits card_program',
  awaited_rail_results: 'id kind',
  suspense_items: 'id',
  external_accounts: 'id customer_id status default_uma deleted_at trusted_at',
  credentials: 'id account_id type status',
  wallet_sessions: 'id account_id credential_id status public_key expires_at',
  wallet_requests: 'id account_id subject status signer',
  wallet_authorizations:
    'id account_id operation subject session_id public_key stamp payload created_at',
  customers: 'id region deleted_at',
  sca_lockouts: 'id failed_attempts locked_until suspended session_expires_at updated_at',
  sca_challenges: 'id customer_id kind subject steps status wrong expires_at',
  sca_events: 'id customer_id type subject',
  agents: 'id platform_id customer_id paused token_hash policy former_currencies deleted_at',
  agent_actions: 'id agent_id type status transaction_id updated_at',
  agent_audit: 'id agent_id action_id what',
  cards: 'id platform_id customer_id platform_card_id state state_reason max_spend funding',
  card_funding_sources: 'id card_id account_id ended_at',
  delegated_keys: 'id account_id card_id funding_source_id status public_key',
  card_messages: 'id card_id transaction_id token kind amount approved reason',
  card_exceptions: 'id',
  card_open_payments: 'id',
  stablecoin_provider_accounts: 'id platform_id provider_account_id status',
  stablecoins: `id platform_id provider_account symbol network_token_identifier issuance_status
    service_status`,
  stablecoin_operations: `id platform_id stablecoin_id provider_account type status amount
    uncounted submitted_at expires_at failure_reason`,
};

const DIARY =
  'create unlogged table sim_diary (n bigserial primary key, tab text not null, was text, now text)';

const TYPES = `select attname as name, format_type(atttypid, null) as type from pg_attribute
  where attrelid = $1::regclass and attname = any($2)`;

/** Types that JSON keeps as they are; all others are noted as PostgreSQL writes them. */
const PLAIN = ['text', 'timestamp with time zone'];

/** Hiding due jobs and showing them again is no news. */
const NEWS: Readonly<Record<string, string>> = {
  jobs: "when (current_setting('application_name') <> 'simulator')",
};

/** What notes the changes of one table: as little work as can be, because every statement pays for it. */
async function noterOf(client: pg.Client, table: string, columns: readonly string[]) {
  const { rows } = await client.query<{ name: string; type: string }>(TYPES, [table, columns]);
  const row = (which: 'old' | 'new') => {
    const pairs = rows.map(({ name, type }) => {
      const value = `${which}.${name}${PLAIN.includes(type) ? '' : '::text'}`;
      return `'${name}', ${value}`;
    });
    return `json_build_object(${pairs.join(', ')})::text`;
  };
  const note = (was: string, now: string) =>
    `insert into sim_diary (tab, was, now) values ('${table}', ${was}, ${now})`;
  const on = (
    event: string,
    when = '',
  ) => `create trigger zz_sim_${event} after ${event} on ${table}
    for each row ${when} execute function sim_note_${table}()`;
  return `create function sim_note_${table}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then ${note('null', row('new'))};
      elsif tg_op = 'UPDATE' then ${note(row('old'), row('new'))};
      else ${note(row('old'), 'null')};
      end if;
      return null;
    end $$;
    ${on('insert')}; ${on('update', NEWS[table])}; ${on('delete')}`;
}

/** Makes a database keep a diary; once for each, before anything is written. */
export async function keepDiary(client: pg.Client): Promise<void> {
  const statements = [DIARY];
  for (const [table, columns] of Object.entries(WATCHED)) {
    statements.push(await noterOf(client, table, columns.split(/\s+/)));
  }
  await client.query(statements.join(';'));
}

interface LedgerAccount {
  id: string;
  currency: string;
  balance: bigint;
  held: bigint;
  floor: bigint | null;
}

export interface Transfer {
  transaction_id: string;
  step: string;
  phase: string;
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
}

export interface Payment {
  /** How many were there before it. */
  place: number;
  row: Noted;
  transfers: Transfer[];
  /** Types of the events about it, in the order of the diary. */
  story: string[];
}

export interface Job {
  id: string;
  kind: string;
  /** Null for work that is about no transaction. */
  transactionId: Text;
  dueAt: number;
}

interface Event {
  row: Noted;
  /** What came of the tries so far, the latest last. */
  results: string[];
}

/** What an operator lets a platform send, and until when that held; the latest without an end. */
interface Limits {
  list: readonly { currency: string; to?: string; perDay?: number }[];
  until: number;
}

export interface Picture {
  accounts: Map<string, LedgerAccount>;
  /** What the transfers alone say of each account. */
  sums: Map<string, { balance: bigint; held: bigint }>;
  /** Sum of all balances, by currency. */
  totals: Map<string, bigint>;
  payments: Map<string, Payment>;
  jobs: Map<string, Job>;
  /** How many jobs name a transaction. */
  driven: Map<string, number>;
  /** Events that are not told yet. */
  events: Map<string, Event>;
  internal: Map<string, Noted>;
  platforms: Map<string, Noted>;
  /** Daily limits that hold or held until lately, by platform. */
  limits: Map<string, Limits[]>;
  /** What a payment waits to hear of, by its id. */
  waits: Map<string, string>;
  outside: Map<string, Noted>;
  /** What hangs on embedded wallets, by their ids. */
  holdings: Map<string, Holding>;
  /** What was signed for quotes, by their ids. */
  signed: Map<string, Noted[]>;
  /** What customers prove themselves by. */
  strength: Strength;
  /** Agents, and what they asked for. */
  agency: Agency;
  cardBook: CardBook;
  coinBook: CoinBook;
  /** The time of the latest look. */
  now: number;
  /** How many of each table were ever inserted. */
  counts: Map<string, number>;
}

export const emptyPicture = (): Picture => ({
  accounts: new Map(),
  sums: new Map(),
  totals: new Map(),
  payments: new Map(),
  jobs: new Map(),
  driven: new Map(),
  events: new Map(),
  internal: new Map(),
  platforms: new Map(),
  limits: new Map(),
  waits: new Map(),
  outside: new Map(),
  holdings: new Map(),
  signed: new Map(),
  strength: emptyStrength(),
  agency: emptyAgency(),
  cardBook: emptyCardBook(),
  coinBook: emptyCoinBook(),
  now: 0,
  counts: new Map(),
});

const bump = <K>(map: Map<K, number>, key: K, by: number) => {
  const next = (map.get(key) ?? 0) + by;
  if (next === 0) map.delete(key);
  else map.set(key, next);
};

export const amountIn = (text: Text | undefined): bigint => BigInt(text ?? 0);

function applyTransfer({ sums }: Picture, { phase, debit, credit, amount }: Transfer): void {
  const add = (id: string, balance: bigint, held: bigint) => {
    const sum = sums.get(id) ?? { balance: 0n, held: 0n };
    sums.set(id, { balance: sum.balance + balance, held: sum.held + held });
  };
  const moves = phase === 'posted' || phase === 'post';
  const held = phase === 'posted' ? 0n : phase === 'pending' ? amount : -amount;
  add(debit, moves ? -amount : 0n, held);
  if (moves) add(credit, amount, 0n);
}

/** The diary has every column as text; only the amount is read as a number. */
const transferOf = (now: Noted): Transfer => ({
  ...(now as unknown as Transfer),
  amount: amountIn(now.amount),
});

function paymentIn(picture: Picture, id: string): Payment {
  const known = picture.payments.get(id);
  if (known) return known;
  const fresh: Payment = { place: picture.payments.size, row: { id }, transfers: [], story: [] };
  picture.payments.set(id, fresh);
  return fresh;
}

function jobOf(now: Noted): Job {
  const { transactionId } = JSON.parse(now.input ?? '{}') as { transactionId?: string };
  const { id, kind, due_at } = now as { id: string; kind: string; due_at: string };
  return { id, kind, transactionId: transactionId ?? null, dueAt: Date.parse(due_at) };
}

/** Whether an id is that of a payment, with a card or without. */
export const isPayment = (id: Text | undefined): id is string =>
  /^(Card)?Transaction:/.test(id ?? '');

const isBalance = (type: Text | undefined) => type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED';

/** How a note changes the picture, by table. */
const APPLY: Readonly<Record<string, (picture: Picture, note: Note) => void>> = {
  ledger_accounts({ accounts, totals }, { was, now }) {
    if (!now) return;
    const { id, currency } = now as { id: string; currency: string };
    const [balance, held] = [amountIn(now.balance), amountIn(now.held)];
    const floor = now.floor === null || now.floor === undefined ? null : BigInt(now.floor);
    accounts.set(id, { id, currency, balance, held, floor });
    totals.set(currency, (totals.get(currency) ?? 0n) + balance - amountIn(was?.balance));
  },
  ledger_transfers(picture, { now }) {
    if (!now) return;
    const transfer = transferOf(now);
    applyTransfer(picture, transfer);
    const id = transfer.transaction_id;
    if (id.startsWith('Stablecoin')) noteMoved(picture.coinBook, transfer);
    // Of the places that a card takes only the sum matters.
    else if (!id.startsWith('Card:')) paymentIn(picture, id).transfers.push(transfer);
  },
  transactions(picture, { now }) {
    if (now) paymentIn(picture, now.id as string).row = now;
  },
  jobs({ jobs, driven }, { was, now }) {
    const old = was && jobs.get(was.id as string);
    if (old?.transactionId) bump(driven, old.transactionId, -1);
    if (old) jobs.delete(old.id);
    if (!now) return;
    const job = jobOf(now);
    jobs.set(job.id, job);
    if (job.transactionId) bump(driven, job.transactionId, 1);
  },
  events(picture, { was, now }) {
    if (!now) return void picture.events.delete(was?.id as string);
    const { id, type, subject } = now as { id: string; type: string; subject: string };
    if (!was && isPayment(subject) && !isBalance(type)) {
      paymentIn(picture, subject).story.push(type);
    }
    const known = picture.events.get(id);
    if (known) known.row = now;
    else picture.events.set(id, { row: now, results: [] });
  },
  webhook_attempts({ events }, { now }) {
    if (now) events.get(now.event_id as string)?.results.push(now.result as string);
  },
  internal_accounts({ internal }, { now }) {
    if (now) internal.set(now.id as string, now);
  },
  platforms({ platforms, limits, now: at }, { was, now }) {
    if (!now) return;
    const id = now.id as string;
    platforms.set(id, now);
    if (was?.limits === now.limits) return;
    const before = limits.get(id) ?? [];
    const last = before.at(-1);
    if (last) last.until = at;
    limits.set(id, [...before, { list: JSON.parse(now.limits ?? '[]'), until: Infinity }]);
  },
  awaited_rail_results({ waits }, { was, now }) {
    if (now) waits.set(now.id as string, now.kind as string);
    else waits.delete(was?.id as string);
  },
  external_accounts({ outside }, { now }) {
    if (now) outside.set(now.id as string, now);
  },
};

export function applyNote(picture: Picture, note: Note): void {
  if (!note.was) bump(picture.counts, note.table, 1);
  APPLY[note.table]?.(picture, note);
  applyHolderNote(picture, note);
  applyStrengthNote(picture.strength, note);
  applyAgencyNote(picture.agency, note);
  applyCardNote(picture.cardBook, note);
  applyCoinNote(picture.coinBook, note);
}

interface Diary {
  /** What was noted since the last look, in order. */
  read(): Promise<Note[]>;
  /** Forgets what was read. */
  trim(): Promise<void>;
}

const READ = 'select n, tab, was, now from sim_diary where n > $1 order by n';

const parsed = (text: Text): Noted | null => (text === null ? null : (JSON.parse(text) as Noted));

export function openDiary(client: pg.Client): Diary {
  let last = '0';
  return {
    async read() {
      const { rows } = await client.query<{ n: string; tab: string; was: Text; now: Text }>({
        name: 'diary',
        text: READ,
        values: [last],
      });
      last = rows.at(-1)?.n ?? last;
      return rows.map(({ tab, was, now }) => ({
        table: tab,
        was: parsed(was),
        now: parsed(now),
      }));
    },
    async trim() {
      await client.query('truncate sim_diary');
    },
  };
}

/** A connection for the simulator's own looks. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'simulator' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query("set timezone = 'UTC'");
  return client;
}
