// The SQL of the ledger. Only these statements write transfers and change balances, floors and
// freezes of existing accounts. The code in ledger/ contains the rules. Parameters of a `statement`
// are arrays, one for each column.
import { quoteName } from '../db/paging.ts';
import { statement } from '../db/statement.ts';
import type { ColumnType, Table } from '../db/table.ts';
import { inOrder, unnest } from './statements.ts';

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

/** Parameters: `PENDING_NAMES`. Each row must match a pending transfer exactly. */
export const MATCH_PENDING = statement(
  `select batch_guard(count(*) = cardinality($1), 'pending') from ledger_transfers t
    join ${unnest(PENDING_TYPES, PENDING_NAMES)} using (${PENDING_NAMES.join(', ')})
    where t.phase = 'pending'`,
  PENDING_TYPES,
);

export const NAMED_NAMES = ['id', 'currency', 'guarded'];
const NAMED_TYPES: ColumnType[] = ['text', 'text', 'bool'];

/**
 * Parameters: account ID, currency, whether the account must not be frozen. Each row must match an
 * account.
 */
export const MATCH_ACCOUNTS = statement(
  `select batch_guard(count(*) = cardinality($1), 'account') from ledger_accounts t
    join ${unnest(NAMED_TYPES, NAMED_NAMES)} using (id, currency) where not (x.guarded and t.frozen)`,
  NAMED_TYPES,
);

/** Parameter: account IDs. Locks the accounts in the order of their IDs. */
export const LOCK_ACCOUNTS = statement(
  `select count(*) from (${inOrder('ledger_accounts')}) locked`,
  ['text'],
);

/**
 * Parameter: account IDs. Locks the accounts. Returns ID, currency, balance, held, floor and
 * frozen.
 */
export const READ_ACCOUNTS = statement(
  `select id, currency, balance, held, floor, frozen from ledger_accounts
    where id = any($1::text[]) order by id collate "C" for no key update`,
  ['text'],
);

/** Parameters: transaction_id, step. Returns the existing transfers. */
export const READ_TRANSFERS = statement(
  `select ${['phase', ...PENDING_NAMES].map((name) => `t.${name}`).join(', ')}
    from ${unnest(['text', 'text'], ['transaction_id', 'step'])}
    join ledger_transfers t using (transaction_id, step)`,
  ['text', 'text'],
);

export const EFFECT_NAMES = ['id', 'currency', 'net', 'hold', 'low', 'guarded'];
const EFFECT_TYPES: ColumnType[] = ['text', 'text', 'int8', 'int8', 'int8', 'bool'];

/**
 * Parameters: ID, currency, change of balance, change of held, lowest intermediate change of the
 * available balance, whether the account must not be frozen. The lowest value is compared with the
 * floor, so that the floor is met after every single transfer.
 */
export const POST_BALANCES = statement(
  `with changed as (update ledger_accounts t set balance = t.balance + x.net, held = t.held + x.hold
      from ${unnest(EFFECT_TYPES, EFFECT_NAMES)}
      where t.id = x.id and t.currency = x.currency
        and (t.floor is null or t.balance - t.held + x.low >= t.floor)
        and not (x.guarded and t.frozen) returning 1)
    select batch_guard(count(*) = cardinality($1), 'balance') from changed`,
  EFFECT_TYPES,
);

export const FREEZE_NAMES = ['id', 'frozen', 'balance', 'held'];
const FREEZE_TYPES: ColumnType[] = ['text', 'bool', 'int8', 'int8'];

/** Parameters: ID, frozen, required balance and held. Null accepts any amount. */
export const SET_FREEZES = statement(
  `with changed as (update ledger_accounts t set frozen = x.frozen
      from ${unnest(FREEZE_TYPES, FREEZE_NAMES)}
      where t.id = x.id and t.balance = coalesce(x.balance, t.balance)
        and t.held = coalesce(x.held, t.held) returning 1)
    select batch_guard(count(*) = cardinality($1), 'freeze') from changed`,
  FREEZE_TYPES,
);

export const EVENT_NAMES = [
  'id',
  'platform_id',
  'type',
  'subject',
  'data',
  'account',
  'created_at',
  'sealed_for',
  'base_id',
  'customer_key',
];
const EVENT_TYPES = EVENT_NAMES.map(
  (name): ColumnType =>
    name === 'created_at' ? 'time' : name === 'customer_key' ? 'int4' : 'text',
);

/**
 * Parameters: `EVENT_NAMES`. A row with an account stores balance and held of the account after
 * this batch.
 */
export const INSERT_EVENTS = statement(
  `insert into events(${EVENT_NAMES.join(', ')}, balance, held)
    select ${EVENT_NAMES.map((name) => `x.${name}`).join(', ')}, a.balance, a.held
    from ${unnest(EVENT_TYPES, EVENT_NAMES)} left join ledger_accounts a on a.id = x.account`,
  EVENT_TYPES,
);

/**
 * Parameter: transaction IDs. Removes both sides of their transfers. Allowed only in a reset of a sandbox
 * platform. Returns each account with the sum of its postings and holds.
 */
export const ERASE_TRANSFERS = statement(
  `with erased as (delete from ledger_transfers where transaction_id = any($1::text[])
      returning debit, credit, phase, amount),
    effects as (
      select debit as id, case when phase in ('posted', 'post') then -amount else 0 end as balance,
        case phase when 'pending' then amount when 'posted' then 0 else -amount end as held
        from erased
      union all
      select credit, case when phase in ('posted', 'post') then amount else 0 end, 0 from erased)
    select id, sum(balance)::text, sum(held)::text from effects group by id`,
  ['text'],
);

/** Parameters: ID, change of balance, change of held. Both changes are reversed. */
export const REVERSE_BALANCES = statement(
  `update ledger_accounts t set balance = t.balance - x.balance, held = t.held - x.held
    from ${unnest(['text', 'int8', 'int8'], ['id', 'balance', 'held'])} where t.id = x.id`,
  ['text', 'int8', 'int8'],
);

/** Parameter: account IDs. Removes accounts whose owners were removed. */
export const ERASE_ACCOUNTS = statement('delete from ledger_accounts where id = any($1::text[])', [
  'text',
]);

/** Parameters: IDs, currencies, time. Opens the accounts that do not exist yet, without a floor. */
export const OPEN_ACCOUNTS = `insert into ledger_accounts (id, currency, created_at)
  select id, currency, $3 from unnest($1::text[], $2::text[]) as account(id, currency)
  on conflict (id) do nothing`;

/** The table of the row from which floors are derived. */
export type BasisTable = Pick<Table, 'name'>;

const lockBasis = (table: BasisTable) => `with basis as materialized (
    select 1 from ${quoteName(table.name)} where id = $5 and version = $6 for share)`;

/**
 * Parameters: IDs, currencies, floors, time, then ID and version of the basis. Returns the accounts that
 * were opened or changed, with their floors.
 */
export const floorsSql = (basis?: BasisTable) => `${basis ? lockBasis(basis) : ''}
  insert into ledger_accounts (id, currency, floor, created_at)
  select id, currency, floor, $4 from unnest($1::text[], $2::text[], $3::int8[])
    as account(id, currency, floor) ${basis ? 'where exists (select from basis)' : ''}
    order by id collate "C"
  on conflict (id) do update set floor = case when excluded.floor is not null
      then least(excluded.floor, ledger_accounts.balance - ledger_accounts.held) end
    where ledger_accounts.floor is distinct from excluded.floor
  returning id, floor`;

/** Parameters: transaction_id, steps. */
export const ANY_IN_STEPS =
  'select 1 from ledger_transfers where transaction_id = $1 and step = any($2::text[]) limit 1';

/** Parameters: transaction IDs, the pattern of account IDs. Returns ID and net. */
export const NET_BY_TRANSACTION = `select transaction_id as id,
    sum(case when credit like $2 then amount else -amount end)::int8 as net
  from ledger_transfers
  where transaction_id = any($1::text[]) and phase = 'posted' and (credit like $2 or debit like $2)
  group by transaction_id`;

const STORED_NAMES = 'step, phase, debit, credit, currency, amount, created_at';

/**
 * Parameter: transaction_id. Transfers are append-only, except in resets, so rows with the same
 * time are stored in the order in which they were staged.
 */
export const TRANSFERS_OF_TRANSACTION = `select ${STORED_NAMES}
  from ledger_transfers where transaction_id = $1
  order by created_at, phase <> 'pending', ctid`;

/** Parameters: transaction_id, step. */
export const TRANSFERS_IN_STEP = `select ${STORED_NAMES}
  from ledger_transfers where transaction_id = $1 and (step = $2 or starts_with(step, $2 || '.'))`;
