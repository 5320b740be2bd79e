// Every statement of a batch, derived from the descriptions of the tables. All parameters are arrays, one
// for each column, so a batch of any size is the same prepared statement. Rows are locked in the order of
// their ids before an update joins them to the batch: an update alone locks in the order of its plan, and
// two lanes with different plans would deadlock, which costs a second each time.
import { ARRAY_TYPE } from '../db/arrays.ts';
import type { ColumnType, Table } from '../db/table.ts';

/** A prepared statement; each parameter is an array of its type. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly types: readonly ColumnType[];
}

/** A statement with one array for each parameter. */
export interface Bound {
  readonly statement: Statement;
  readonly columns: readonly (readonly unknown[])[];
}

export const bind = (statement: Statement, ...columns: (readonly unknown[])[]): Bound => ({
  statement,
  columns,
});

/** Text to statement, so that two descriptions of one table never claim one name for two texts. */
const byText = new Map<string, Statement>();

function statement(text: string, types: readonly ColumnType[] = []): Statement {
  let known = byText.get(text);
  if (!known) {
    known = { name: `batch_${byText.size + 1}`, text, types };
    byText.set(text, known);
  }
  return known;
}

/** One statement for each table, made when first asked for. */
function derived(make: (table: Table) => Statement): (table: Table) => Statement {
  const made = new WeakMap<Table, Statement>();
  return (table) => {
    let known = made.get(table);
    if (!known) {
      known = make(table);
      made.set(table, known);
    }
    return known;
  };
}

const quoted = (name: string) => `"${name}"`;

function unnest(types: readonly ColumnType[], names: readonly string[]): string {
  const arrays = types.map((type, i) => `$${i + 1}::${ARRAY_TYPE[type]}`);
  return `unnest(${arrays.join(', ')}) x(${names.map(quoted).join(', ')})`;
}

const typesOf = (table: Table, names: readonly string[]) =>
  names.map((name) => (table.columns[name] as { type: ColumnType }).type);

/** Parameters: every column of the table. */
export const insertInto = derived((table) => {
  const names = table.columnNames;
  const types = typesOf(table, names);
  const list = names.map(quoted).join(', ');
  return statement(
    `insert into ${quoted(table.name)}(${list}) select ${list} from ${unnest(types, names)}`,
    types,
  );
});

/** The columns that `updateOf` takes after id and version. */
export const changingNames = (table: Table): readonly string[] =>
  table.mutableNames.filter((name) => name !== 'id' && name !== 'version');

/** Parameters: id, version as read, then the columns that may change. All rows must be met. */
export const updateOf = derived((table) => {
  const names = ['id', 'version', ...changingNames(table)];
  const types = ['text', 'int4', ...typesOf(table, changingNames(table))] as ColumnType[];
  const sets = changingNames(table).map((name) => `${quoted(name)} = x.${quoted(name)}`);
  return statement(
    `with done as (update ${quoted(table.name)} t set ${[...sets, 'version = t.version + 1'].join(', ')}
      from ${unnest(types, names)} where t.id = x.id and t.version = x.version returning 1)
    select batch_guard(count(*) = cardinality($1), 'version') from done`,
    types,
  );
});

/** Parameters: id, version as read. All rows must be met. */
export const removeFrom = derived((table) => {
  const types: ColumnType[] = ['text', 'int4'];
  return statement(
    `with done as (delete from ${quoted(table.name)} t
      using ${unnest(types, ['id', 'version'])} where t.id = x.id and t.version = x.version returning 1)
    select batch_guard(count(*) = cardinality($1), 'version') from done`,
    types,
  );
});

const inOrder = (name: string) =>
  `select from ${quoted(name)} where id = any($1::text[]) order by id collate "C" for no key update`;

/** Parameter: ids to change. Waits for their locks in the order of ids. */
export const lockOf = derived((table) =>
  statement(`select count(*) from (${inOrder(table.name)}) locked`, ['text']),
);

/** One pass in the order of ids that takes the stronger lock where the row is to change. */
const mixed = (table: Table) => {
  const one = `select t.version from ${quoted(table.name)} t where t.id = x.id`;
  return `select x.id, x.version as wanted,
      case when x.changes then (${one} for no key update) else (${one} for share) end as version
    from (select * from ${unnest(['text', 'int4', 'bool'], ['id', 'version', 'changes'])}
      order by x.id collate "C") x`;
};

/** Parameters: id, version as read, whether it is to change. Locks all and checks the versions. */
export const leanOn = derived((table) =>
  statement(
    `select batch_guard(count(*) filter (where version = wanted) = cardinality($1), 'version')
      from (${mixed(table)}) locked`,
    ['text', 'int4', 'bool'],
  ),
);

/** As `leanOn`, but answers id and version (null for a missing row) instead of judging. */
export const lookAt = derived((table) =>
  statement(`select id, version from (${mixed(table)}) locked`, ['text', 'int4', 'bool']),
);

/** Parameter: ids. Answers those that are taken. */
export const takenIn = derived((table) =>
  statement(`select id from ${quoted(table.name)} where id = any($1::text[])`, ['text']),
);

export const TRANSFER_NAMES = [
  'transaction_id',
  'step',
  'phase',
  'debit',
  'credit',
  'currency',
  'amount',
  'created_at',
];
const TRANSFER_TYPES: ColumnType[] = [
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
  'int8',
  'time',
];

/** Parameters: transaction_id, step, phase, debit, credit, currency, amount, created_at. */
export const INSERT_TRANSFERS = statement(
  `insert into ledger_transfers(${TRANSFER_NAMES.join(', ')})
    select * from ${unnest(TRANSFER_TYPES, TRANSFER_NAMES)}`,
  TRANSFER_TYPES,
);

export const PENDING_NAMES = ['transaction_id', 'step', 'debit', 'credit', 'currency', 'amount'];
const PENDING_TYPES: ColumnType[] = ['text', 'text', 'text', 'text', 'text', 'int8'];

/** Parameters: as named. Every one must be a pending transfer just as described. */
export const MATCH_PENDING = statement(
  `select batch_guard(count(*) = cardinality($1), 'pending') from ledger_transfers t
    join ${unnest(PENDING_TYPES, PENDING_NAMES)} using (${PENDING_NAMES.join(', ')})
    where t.phase = 'pending'`,
  PENDING_TYPES,
);

export const NAMED_NAMES = ['id', 'currency', 'guarded'];
const NAMED_TYPES: ColumnType[] = ['text', 'text', 'bool'];

/** Parameters: account id, currency, whether it must be open. Every one must be such an account. */
export const MATCH_ACCOUNTS = statement(
  `select batch_guard(count(*) = cardinality($1), 'account') from ledger_accounts t
    join ${unnest(NAMED_TYPES, NAMED_NAMES)} using (id, currency) where not (x.guarded and t.shut)`,
  NAMED_TYPES,
);

/** Parameter: account ids. */
export const LOCK_ACCOUNTS = statement(
  `select count(*) from (${inOrder('ledger_accounts')}) locked`,
  ['text'],
);

/** Parameter: account ids. Locks, and answers id, currency, balance, held, floor and shut. */
export const LOOK_AT_ACCOUNTS = statement(
  `select id, currency, balance, held, floor, shut from ledger_accounts
    where id = any($1::text[]) order by id collate "C" for no key update`,
  ['text'],
);

/** Parameters: transaction_id, step. Answers the transfers there are. */
export const LOOK_AT_TRANSFERS = statement(
  `select ${['phase', ...PENDING_NAMES].map((name) => `t.${name}`).join(', ')}
    from ${unnest(['text', 'text'], ['transaction_id', 'step'])}
    join ledger_transfers t using (transaction_id, step)`,
  ['text', 'text'],
);

export const EFFECT_NAMES = ['id', 'currency', 'net', 'hold', 'low', 'guarded'];
const EFFECT_TYPES: ColumnType[] = ['text', 'text', 'int8', 'int8', 'int8', 'bool'];

/**
 * Parameters: id, currency, change of balance, change of held, lowest point of what can be spent on the
 * way, whether it must be open. The lowest point makes the floor hold after every single transfer, not
 * just at the end.
 */
export const MOVE_BALANCES = statement(
  `with done as (update ledger_accounts t set balance = t.balance + x.net, held = t.held + x.hold
      from ${unnest(EFFECT_TYPES, EFFECT_NAMES)}
      where t.id = x.id and t.currency = x.currency
        and (t.floor is null or t.balance - t.held + x.low >= t.floor)
        and not (x.guarded and t.shut) returning 1)
    select batch_guard(count(*) = cardinality($1), 'balance') from done`,
  EFFECT_TYPES,
);

export const TURN_NAMES = ['id', 'shut', 'balance', 'held'];
const TURN_TYPES: ColumnType[] = ['text', 'bool', 'int8', 'int8'];

/** Parameters: id, shut, balance and held that there must be, null for whatever there is. */
export const TURN_GATES = statement(
  `with done as (update ledger_accounts t set shut = x.shut
      from ${unnest(TURN_TYPES, TURN_NAMES)}
      where t.id = x.id and t.balance = coalesce(x.balance, t.balance)
        and t.held = coalesce(x.held, t.held) returning 1)
    select batch_guard(count(*) = cardinality($1), 'gate') from done`,
  TURN_TYPES,
);

export const EVENT_NAMES = [
  'id',
  'platform_id',
  'type',
  'subject',
  'data',
  'account',
  'created_at',
  'due_at',
  'sealed_for',
];
const EVENT_TYPES: ColumnType[] = [
  'text',
  'text',
  'text',
  'text',
  'text',
  'text',
  'time',
  'time',
  'text',
];

/** Parameters: as named. Each row keeps balance and held of its account as this batch leaves them. */
export const INSERT_EVENTS = statement(
  `insert into events(${EVENT_NAMES.join(', ')}, balance, held)
    select ${EVENT_NAMES.map((name) => `x.${name}`).join(', ')}, a.balance, a.held
    from ${unnest(EVENT_TYPES, EVENT_NAMES)} left join ledger_accounts a on a.id = x.account`,
  EVENT_TYPES,
);

export const BEGIN = statement('begin');
export const COMMIT = statement('commit');
export const ROLLBACK = statement('rollback');
