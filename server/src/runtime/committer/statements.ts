// The statements of a batch that write and read rows, derived from the table definitions. All
// parameters are arrays, one for each column, so a batch of any size is the same prepared
// statement. Rows are locked in the order of their IDs before an update. An update alone locks in
// the order of its plan, so two lanes with different plans could deadlock.
import { ARRAY_TYPE, LIST_TYPE } from '../db/arrays.ts';
import { type Statement, statement } from '../db/statement.ts';
import type { ColumnType, Table } from '../db/table.ts';

/** Creates the statement of each table at its first use. */
function memoizeByTable(make: (table: Table) => Statement): (table: Table) => Statement {
  const statements = new WeakMap<Table, Statement>();
  return (table) => {
    let cachedStatement = statements.get(table);
    if (!cachedStatement) {
      cachedStatement = make(table);
      statements.set(table, cachedStatement);
    }
    return cachedStatement;
  };
}

const quote = (name: string) => `"${name}"`;

/** The parameters as rows, from one array for each column. */
export function unnest(types: readonly ColumnType[], names: readonly string[]): string {
  const arrays = types.map((type, i) => `$${i + 1}::${ARRAY_TYPE[type]}`);
  return `unnest(${arrays.join(', ')}) x(${names.map(quote).join(', ')})`;
}

const typesOf = (table: Table, names: readonly string[]) =>
  names.map((name) => (table.columns[name] as { type: ColumnType }).type);

/** A parameter's value, cast to the type of its column. */
function cast(table: Table, name: string): string {
  const listType = LIST_TYPE[table.columns[name]?.type ?? 'text'];
  return `x.${quote(name)}${listType ? `::${listType}` : ''}`;
}

/** Parameters: every column of the table. */
export const insertInto = memoizeByTable((table) => {
  const names = table.columnNames;
  const types = typesOf(table, names);
  const columnList = names.map(quote).join(', ');
  const values = names.map((name) => cast(table, name)).join(', ');
  return statement(
    `insert into ${quote(table.name)}(${columnList}) select ${values} from ${unnest(types, names)}`,
    types,
  );
});

interface UpdateStatement {
  statement: Statement;
  /** Columns of the parameters after ID and version. */
  names: readonly string[];
}

/** Statements that update a table, by the columns that they change. */
const updates = new WeakMap<Table, Map<string, UpdateStatement>>();

/** Columns that an update of the changed columns writes, in the order of the table. */
export const changingNames = (table: Table, changedNames: ReadonlySet<string>): readonly string[] =>
  table.mutableNames.filter(
    (name) => name !== 'id' && name !== 'version' && changedNames.has(name),
  );

/** Parameters: ID, version as read, then `names`. All rows must match. */
export function updateOf(table: Table, names: readonly string[]): UpdateStatement {
  const statementsByColumns = updates.get(table) ?? new Map<string, UpdateStatement>();
  updates.set(table, statementsByColumns);
  const key = names.join();
  let update = statementsByColumns.get(key);
  if (!update) {
    update = { statement: updateStatement(table, names), names };
    statementsByColumns.set(key, update);
  }
  return update;
}

function updateStatement(table: Table, names: readonly string[]): Statement {
  const types = ['text', 'int4', ...typesOf(table, names)] as ColumnType[];
  const columnAssignments = names.map((name) => `${quote(name)} = ${cast(table, name)}`);
  const assignments = [...columnAssignments, 'version = t.version + 1'].join(', ');
  return statement(
    `with changed as (update ${quote(table.name)} t set ${assignments}
      from ${unnest(types, ['id', 'version', ...names])}
      where t.id = x.id and t.version = x.version returning 1)
    select batch_guard(count(*) = cardinality($1), 'version') from changed`,
    types,
  );
}

/** Parameters: ID, version as read. All rows must match. */
export const deleteFrom = memoizeByTable((table) => {
  const types: ColumnType[] = ['text', 'int4'];
  return statement(
    `with changed as (delete from ${quote(table.name)} t
      using ${unnest(types, ['id', 'version'])} where t.id = x.id and t.version = x.version returning 1)
    select batch_guard(count(*) = cardinality($1), 'version') from changed`,
    types,
  );
});

/** Locks rows in the order of their IDs. Parameter: IDs. */
export const inOrder = (name: string) =>
  `select from ${quote(name)} where id = any($1::text[]) order by id collate "C" for no key update`;

/** Parameter: IDs to change. Waits for their locks in the order of IDs. */
export const lockOf = memoizeByTable((table) =>
  statement(`select count(*) from (${inOrder(table.name)}) locked`, ['text']),
);

/** Locks all rows in the order of their IDs, with the stronger lock for rows to change. */
const mixedLocks = (table: Table) => {
  const version = `select t.version from ${quote(table.name)} t where t.id = x.id`;
  return `select x.id, x.version as wanted,
      case when x.changes then (${version} for no key update) else (${version} for share) end
        as version
    from (select * from ${unnest(['text', 'int4', 'bool'], ['id', 'version', 'changes'])}
      order by x.id collate "C") x`;
};

/**
 * Parameters: ID, version as read, whether the row is to change. Locks all rows and checks the
 * versions.
 */
export const lockAndMatch = memoizeByTable((table) =>
  statement(
    `select batch_guard(count(*) filter (where version = wanted) = cardinality($1), 'version')
      from (${mixedLocks(table)}) locked`,
    ['text', 'int4', 'bool'],
  ),
);

/** Locks the rows like `lockAndMatch` and returns ID and version, which is null for a missing row. */
export const readVersions = memoizeByTable((table) =>
  statement(`select id, version from (${mixedLocks(table)}) locked`, ['text', 'int4', 'bool']),
);

/** Parameter: IDs. Returns the existing IDs. */
export const existingKeys = memoizeByTable((table) =>
  statement(`select id from ${quote(table.name)} where id = any($1::text[])`, ['text']),
);

export const BEGIN = statement('begin');
export const COMMIT = statement('commit');
export const ROLLBACK = statement('rollback');
