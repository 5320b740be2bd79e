// A model of the database, updated from a change log. Triggers record every inserted, updated or
// deleted row in the order of the writes. The cost of a step depends only on its changes.
import pg from 'pg';
import { type AgentRecords, applyAgentChange, emptyAgentRecords } from './agent-usage.ts';
import {
  type Authentication,
  applyAuthenticationChange,
  emptyAuthentication,
} from './authentication.ts';
import { applyCardChange, type CardRecords, emptyCardRecords } from './card-records.ts';
import { applyHolderChange, type Holding } from './holdings.ts';
import {
  applyStablecoinChange,
  emptyStablecoinRecords,
  recordTransfer,
  type StablecoinRecords,
} from './stablecoin-records.ts';

type Text = string | null;

/** A row of the change log: every value as text. */
export type RecordedRow = Record<string, Text>;

/** An inserted, updated or deleted row. */
export interface RowChange {
  table: string;
  before: RecordedRow | null;
  after: RecordedRow | null;
}

/** The recorded tables and columns. */
const RECORDED_COLUMNS: Readonly<Record<string, string>> = {
  ledger_accounts: 'id currency balance held floor',
  ledger_transfers: 'transaction_id step phase debit credit currency amount',
  transactions: `id platform_id customer_id type status funds source_account destination_account
    sent_amount sent_currency received_amount received_currency fees platform_fees
    platform_fee_account funded_amount quote_id settled_at failure_reason refund origin
    cancel_requested_at agent_id direction card card_authorized card_closed card_clearings
    card_refunds card_funding_debits card_funding_debit_statuses card_released card_written_off
    card_recovered card_undone_clearings card_reversed_refunds card_last_event_at created_at`,
  quotes: 'id transaction_id expires_at',
  jobs: 'id kind input due_at version',
  events: 'id platform_id type subject account balance held',
  webhook_queue: 'event_id due_at',
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

const CHANGE_LOG =
  'create unlogged table sim_changes (n bigserial primary key, tab text not null, before text, after text)';

const COLUMN_TYPES_SQL = `select attname as name, format_type(atttypid, null) as type from pg_attribute
  where attrelid = $1::regclass and attname = any($2)`;

/** Types that JSON preserves. All others are recorded as PostgreSQL prints them. */
const PLAIN_TYPES = ['text', 'timestamp with time zone'];

/** Changes of due times by `runOnly` are not recorded. */
const UPDATE_CONDITIONS: Readonly<Record<string, string>> = {
  jobs: "when (current_setting('application_name') <> 'simulator')",
};

/**
 * Rows that are moved into their partition are not recorded, because a partition has no trigger
 * while it is filled.
 */
const NOT_MOVED_CONDITION = "when (current_setting('application_name') <> 'railhead retention')";

/** The trigger of a table. The trigger runs for every changed row, so it only copies the row. */
async function changeTriggerSql(client: pg.Client, table: string, columns: readonly string[]) {
  const { rows } = await client.query<{ name: string; type: string }>(COLUMN_TYPES_SQL, [
    table,
    columns,
  ]);
  const row = (version: 'old' | 'new') => {
    const pairs = rows.map(({ name, type }) => {
      const value = `${version}.${name}${PLAIN_TYPES.includes(type) ? '' : '::text'}`;
      return `'${name}', ${value}`;
    });
    return `json_build_object(${pairs.join(', ')})::text`;
  };
  const recordChange = (before: string, after: string) =>
    `insert into sim_changes (tab, before, after) values ('${table}', ${before}, ${after})`;
  const createTriggerSql = (
    event: string,
    condition = '',
  ) => `create trigger zz_sim_${event} after ${event} on ${table}
    for each row ${condition} execute function sim_note_${table}()`;
  return `create function sim_note_${table}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then ${recordChange('null', row('new'))};
      elsif tg_op = 'UPDATE' then ${recordChange(row('old'), row('new'))};
      else ${recordChange(row('old'), 'null')};
      end if;
      return null;
    end $$;
    ${createTriggerSql('insert')};
    ${createTriggerSql('update', UPDATE_CONDITIONS[table])};
    ${createTriggerSql('delete', NOT_MOVED_CONDITION)}`;
}

/** Installs the change log. Must run once per database, before the first write. */
export async function installChangeLog(client: pg.Client): Promise<void> {
  const statements = [CHANGE_LOG];
  for (const [table, columns] of Object.entries(RECORDED_COLUMNS)) {
    statements.push(await changeTriggerSql(client, table, columns.split(/\s+/)));
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
  /** Number of payments that were created before this one. */
  sequence: number;
  row: RecordedRow;
  transfers: Transfer[];
  /** Types of the events about the payment, in the order of the change log. */
  eventTypes: string[];
}

export interface Job {
  id: string;
  kind: string;
  /** Null for jobs without a transaction. */
  transactionId: Text;
  dueAt: number;
}

interface Event {
  row: RecordedRow;
  /** Results of the attempts, latest last. */
  results: string[];
}

/** Daily limits with the end of their validity. Infinity for the latest. */
interface Limits {
  list: readonly { currency: string; to?: string; perDay?: number }[];
  until: number;
}

export interface Model {
  accounts: Map<string, LedgerAccount>;
  /** Balances computed from the transfers alone. */
  sums: Map<string, { balance: bigint; held: bigint }>;
  /** Sum of all balances, by currency. */
  totals: Map<string, bigint>;
  payments: Map<string, Payment>;
  jobs: Map<string, Job>;
  /** Number of jobs of a transaction. */
  jobCounts: Map<string, number>;
  /** Events that are not delivered yet. */
  events: Map<string, Event>;
  /** Due times of deliveries, by event. */
  webhookQueue: Map<string, number>;
  internal: Map<string, RecordedRow>;
  platforms: Map<string, RecordedRow>;
  /** Current and recent daily limits, by platform. */
  limits: Map<string, Limits[]>;
  /** The result that a payment waits for, by its ID. */
  awaitedResults: Map<string, string>;
  externalAccounts: Map<string, RecordedRow>;
  /** Holdings of embedded wallets, by their IDs. */
  holdings: Map<string, Holding>;
  /** Authorizations of quotes, by quote ID. */
  signedAuthorizations: Map<string, RecordedRow[]>;
  /** Strong authentication of customers. */
  authentication: Authentication;
  /** Agents and their actions. */
  agentRecords: AgentRecords;
  cardRecords: CardRecords;
  stablecoinRecords: StablecoinRecords;
  /** The time of the latest observation. */
  now: number;
  /** Number of inserted rows, by table. */
  counts: Map<string, number>;
}

export const emptyModel = (): Model => ({
  accounts: new Map(),
  sums: new Map(),
  totals: new Map(),
  payments: new Map(),
  jobs: new Map(),
  jobCounts: new Map(),
  events: new Map(),
  webhookQueue: new Map(),
  internal: new Map(),
  platforms: new Map(),
  limits: new Map(),
  awaitedResults: new Map(),
  externalAccounts: new Map(),
  holdings: new Map(),
  signedAuthorizations: new Map(),
  authentication: emptyAuthentication(),
  agentRecords: emptyAgentRecords(),
  cardRecords: emptyCardRecords(),
  stablecoinRecords: emptyStablecoinRecords(),
  now: 0,
  counts: new Map(),
});

const increase = <K>(map: Map<K, number>, key: K, increment: number) => {
  const next = (map.get(key) ?? 0) + increment;
  if (next === 0) map.delete(key);
  else map.set(key, next);
};

export const amountIn = (text: Text | undefined): bigint => BigInt(text ?? 0);

function applyTransfer({ sums }: Model, { phase, debit, credit, amount }: Transfer): void {
  const add = (id: string, balance: bigint, heldAmount: bigint) => {
    const sum = sums.get(id) ?? { balance: 0n, held: 0n };
    sums.set(id, { balance: sum.balance + balance, held: sum.held + heldAmount });
  };
  const isBalanceChange = phase === 'posted' || phase === 'post';
  const heldAmount = phase === 'posted' ? 0n : phase === 'pending' ? amount : -amount;
  add(debit, isBalanceChange ? -amount : 0n, heldAmount);
  if (isBalanceChange) add(credit, amount, 0n);
}

/** The change log has every column as text. Only the amount is read as a number. */
const transferOf = (row: RecordedRow): Transfer => ({
  ...(row as unknown as Transfer),
  amount: amountIn(row.amount),
});

function findOrCreatePayment(model: Model, id: string): Payment {
  const knownPayment = model.payments.get(id);
  if (knownPayment) return knownPayment;
  const newPayment: Payment = {
    sequence: model.payments.size,
    row: { id },
    transfers: [],
    eventTypes: [],
  };
  model.payments.set(id, newPayment);
  return newPayment;
}

function jobOf(row: RecordedRow): Job {
  const { transactionId } = JSON.parse(row.input ?? '{}') as { transactionId?: string };
  const { id, kind, due_at } = row as { id: string; kind: string; due_at: string };
  return { id, kind, transactionId: transactionId ?? null, dueAt: Date.parse(due_at) };
}

/** Whether an ID belongs to a payment, with a card or without. */
export const isPayment = (id: Text | undefined): id is string =>
  /^(Card)?Transaction:/.test(id ?? '');

const isBalance = (type: Text | undefined) => type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED';

/** Applies a row change, by table. */
const CHANGE_HANDLERS: Readonly<Record<string, (model: Model, change: RowChange) => void>> = {
  ledger_accounts({ accounts, totals }, { before, after }) {
    if (!after) return;
    const { id, currency } = after as { id: string; currency: string };
    const [balance, heldAmount] = [amountIn(after.balance), amountIn(after.held)];
    const floor = after.floor === null || after.floor === undefined ? null : BigInt(after.floor);
    accounts.set(id, { id, currency, balance, held: heldAmount, floor });
    totals.set(currency, (totals.get(currency) ?? 0n) + balance - amountIn(before?.balance));
  },
  ledger_transfers(model, { after }) {
    if (!after) return;
    const transfer = transferOf(after);
    applyTransfer(model, transfer);
    const id = transfer.transaction_id;
    if (id.startsWith('Stablecoin')) recordTransfer(model.stablecoinRecords, transfer);
    // For card limits only the sum matters.
    else if (!id.startsWith('Card:')) findOrCreatePayment(model, id).transfers.push(transfer);
  },
  transactions(model, { after }) {
    if (after) findOrCreatePayment(model, after.id as string).row = after;
  },
  jobs({ jobs, jobCounts }, { before, after }) {
    const previousJob = before && jobs.get(before.id as string);
    if (previousJob?.transactionId) increase(jobCounts, previousJob.transactionId, -1);
    if (previousJob) jobs.delete(previousJob.id);
    if (!after) return;
    const job = jobOf(after);
    jobs.set(job.id, job);
    if (job.transactionId) increase(jobCounts, job.transactionId, 1);
  },
  events(model, { before, after }) {
    if (!after) return void model.events.delete(before?.id as string);
    const { id, type, subject } = after as { id: string; type: string; subject: string };
    if (!before && isPayment(subject) && !isBalance(type)) {
      findOrCreatePayment(model, subject).eventTypes.push(type);
    }
    const knownEvent = model.events.get(id);
    if (knownEvent) knownEvent.row = after;
    else model.events.set(id, { row: after, results: [] });
  },
  webhook_queue({ webhookQueue }, { before, after }) {
    if (after) webhookQueue.set(after.event_id as string, Date.parse(after.due_at as string));
    else webhookQueue.delete(before?.event_id as string);
  },
  webhook_attempts({ events }, { after }) {
    if (after) events.get(after.event_id as string)?.results.push(after.result as string);
  },
  internal_accounts({ internal }, { after }) {
    if (after) internal.set(after.id as string, after);
  },
  platforms({ platforms, limits, now: time }, { before, after }) {
    if (!after) return;
    const id = after.id as string;
    platforms.set(id, after);
    if (before?.limits === after.limits) return;
    const previousLimits = limits.get(id) ?? [];
    const lastLimits = previousLimits.at(-1);
    if (lastLimits) lastLimits.until = time;
    limits.set(id, [
      ...previousLimits,
      { list: JSON.parse(after.limits ?? '[]'), until: Infinity },
    ]);
  },
  awaited_rail_results({ awaitedResults }, { before, after }) {
    if (after) awaitedResults.set(after.id as string, after.kind as string);
    else awaitedResults.delete(before?.id as string);
  },
  external_accounts({ externalAccounts }, { after }) {
    if (after) externalAccounts.set(after.id as string, after);
  },
};

export function applyChangeToModel(model: Model, change: RowChange): void {
  if (!change.before) increase(model.counts, change.table, 1);
  CHANGE_HANDLERS[change.table]?.(model, change);
  applyHolderChange(model, change);
  applyAuthenticationChange(model.authentication, change);
  applyAgentChange(model.agentRecords, change);
  applyCardChange(model.cardRecords, change);
  applyStablecoinChange(model.stablecoinRecords, change);
}

interface ChangeLog {
  /** Changes since the last read, in order. */
  read(): Promise<RowChange[]>;
  /** Deletes the changes that were read. */
  trim(): Promise<void>;
}

const READ_SQL = 'select n, tab, before, after from sim_changes where n > $1 order by n';

const parseRow = (text: Text): RecordedRow | null =>
  text === null ? null : (JSON.parse(text) as RecordedRow);

export function openChangeLog(client: pg.Client): ChangeLog {
  let lastNumber = '0';
  return {
    async read() {
      const { rows } = await client.query<{ n: string; tab: string; before: Text; after: Text }>({
        name: 'change-log',
        text: READ_SQL,
        values: [lastNumber],
      });
      lastNumber = rows.at(-1)?.n ?? lastNumber;
      return rows.map(({ tab, before, after }) => ({
        table: tab,
        before: parseRow(before),
        after: parseRow(after),
      }));
    },
    async trim() {
      await client.query('truncate sim_changes');
    },
  };
}

/** A connection for the simulator's own queries. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'simulator' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query("set timezone = 'UTC'");
  return client;
}
