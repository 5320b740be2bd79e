// The chart of accounts and the trial balance. System accounts are read by the common prefix of
// their IDs. Accounts of customers and platforms are counted up to a limit. Above the limit their
// sum is derived from the system accounts, because the balances of an environment and currency sum
// to zero.
import { iso, type Time } from '../../kernel/effects.ts';
import { Fault, invalidField } from '../../kernel/fault.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import {
  partsOfSystemAccount,
  SYSTEM_ACCOUNT_IDS,
  SYSTEM_ACCOUNTS,
  type SystemAccount,
} from '../../ledger/chart.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { accountsByOperator } from '../balances/internal-accounts/index.ts';
import { platformById } from '../tenancy/platform/index.ts';

const PURPOSES = Object.keys(SYSTEM_ACCOUNTS) as SystemAccount[];
const typeOfPurpose = (purpose: string) => purpose.toUpperCase();

/** Types of ledger accounts: of customers, of platforms, and each kind of system account. */
export const LEDGER_ACCOUNT_TYPES: readonly string[] = [
  'CUSTOMER',
  'PLATFORM',
  ...PURPOSES.map(typeOfPurpose),
];

interface LedgerRow {
  id: string;
  currency: string;
  balance: bigint;
  held: bigint;
  created_at: Time;
}

function presentSystem({ id, currency, balance, held, created_at }: LedgerRow) {
  const idParts = partsOfSystemAccount(id);
  if (!idParts) throw new Error(`${id} is not a system account`);
  const { environment: mode, purpose } = idParts;
  return {
    id,
    type: typeOfPurpose(purpose),
    name: SYSTEM_ACCOUNTS[purpose],
    mode,
    currency,
    balance: Number(balance),
    held: Number(held),
    createdAt: iso(created_at),
  };
}

type InternalView = Awaited<ReturnType<typeof accountsByOperator.page>>['data'][number];

const presentInternal = (view: InternalView, mode: Mode) => ({
  id: view.accountId,
  type: view.customerId === null ? 'PLATFORM' : 'CUSTOMER',
  name: view.customerId === null ? 'Platform' : 'Customer',
  mode,
  platformId: view.platformId,
  ...(view.customerId === null ? {} : { customerId: view.customerId }),
  currency: view.currency,
  status: view.status,
  balance: view.balance + view.held,
  held: view.held,
  createdAt: view.createdAt,
});

type LedgerAccount = ReturnType<typeof presentSystem> | ReturnType<typeof presentInternal>;

export interface LedgerAccountQuery {
  platformId?: string | undefined;
  customerId?: string | undefined;
  type?: string | undefined;
  currency?: string | undefined;
  mode?: Mode | undefined;
  /** Only accounts with a balance or a hold. */
  hasBalance?: boolean | undefined;
  limit: number;
  cursor?: string | undefined;
}

interface AccountPage {
  data: LedgerAccount[];
  hasMore: boolean;
  nextCursor?: string;
}

const SYSTEM = `select id, currency, balance, held, created_at from ledger_accounts
  where id > $1 and id < $7
    and ($2::text is null or split_part(id, ':', 3) = $2)
    and ($3::text is null or currency = $3)
    and ($4::text is null or split_part(id, ':', 2) = $4)
    and (not $5::boolean or balance <> 0 or held <> 0)
  order by id limit $6`;

const CURSOR_FORM = /^(system|internal) ([\x21-\x7e]{0,300})$/;

/** Start of a page: the list of system accounts or of internal accounts, and the position in it. */
function positionIn(cursor: string | undefined): { list: string; position: string } {
  if (cursor === undefined) return { list: 'system', position: SYSTEM_ACCOUNT_IDS.after };
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, list, position] = CURSOR_FORM.exec(text) ?? [];
  if (list === undefined || position === undefined) {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return { list, position };
}

const cursorAt = (list: 'system' | 'internal', position: string) =>
  Buffer.from(`${list} ${position}`).toString('base64url');

const purposeOf = (type: string | undefined) =>
  PURPOSES.find((purpose) => typeOfPurpose(purpose) === type);

async function systemPage(
  { db }: Runtime,
  { type, currency, mode, hasBalance = false, limit }: LedgerAccountQuery,
  position: string,
): Promise<AccountPage> {
  const filters = [purposeOf(type) ?? null, currency ?? null, mode ?? null, hasBalance];
  const rows = await db.query<LedgerRow>(SYSTEM, [
    position,
    ...filters,
    limit + 1,
    SYSTEM_ACCOUNT_IDS.before,
  ]);
  const data = rows.slice(0, limit).map(presentSystem);
  const lastAccount = data.at(-1);
  if (rows.length > limit && lastAccount) {
    return { data, hasMore: true, nextCursor: cursorAt('system', lastAccount.id) };
  }
  if (type !== undefined) return { data, hasMore: false };
  return { data, hasMore: true, nextCursor: cursorAt('internal', '') };
}

async function internalPage(
  runtime: Runtime,
  { type, hasBalance, ...query }: LedgerAccountQuery,
  position: string,
): Promise<AccountPage> {
  const owner = type === 'CUSTOMER' || type === 'PLATFORM' ? type : undefined;
  const cursor = position === '' ? undefined : position;
  const page = await accountsByOperator.page(runtime, { ...query, owner, cursor });
  const platformIds = [...new Set(page.data.map(({ platformId }) => platformId))];
  const platforms = await Promise.all(platformIds.map((id) => platformById(runtime, id)));
  const modes = new Map(platforms.map(({ id, environment }) => [id, environment]));
  const accounts = page.data.map((view) =>
    presentInternal(view, modes.get(view.platformId) ?? 'sandbox'),
  );
  const data = hasBalance
    ? accounts.filter(({ balance, held }) => balance !== 0 || held !== 0)
    : accounts;
  return {
    data,
    hasMore: page.hasMore,
    ...(page.nextCursor ? { nextCursor: cursorAt('internal', page.nextCursor) } : {}),
  };
}

/** A page of ledger accounts: system accounts by ID, then internal accounts, newest first. */
export async function listLedgerAccounts(
  runtime: Runtime,
  query: LedgerAccountQuery,
): Promise<AccountPage> {
  const { platformId, customerId, type, limit, cursor } = query;
  const isOwned = platformId !== undefined || customerId !== undefined;
  if (isOwned && purposeOf(type)) return { data: [], hasMore: false };
  const isInternal = isOwned || type === 'CUSTOMER' || type === 'PLATFORM';
  const { list, position } = positionIn(cursor);
  if (list === 'internal') return internalPage(runtime, query, position);
  if (isInternal) return internalPage(runtime, query, '');
  const page = await systemPage(runtime, query, position);
  const isFull = page.data.length === limit || type !== undefined;
  if (isFull || page.nextCursor !== cursorAt('internal', '')) return page;
  const remainingQuery = { ...query, limit: limit - page.data.length };
  const firstInternalPage = await internalPage(runtime, remainingQuery, '');
  return { ...firstInternalPage, data: [...page.data, ...firstInternalPage.data] };
}

/** A ledger account by its ID. Throws ACCOUNT_NOT_FOUND. */
export async function ledgerAccountById(
  runtime: Runtime,
  id: string,
): Promise<LedgerRow & { platform_id: string | null }> {
  const [row] = await runtime.db.query<LedgerRow>(
    'select id, currency, balance, held, created_at from ledger_accounts where id = $1',
    [id],
  );
  const isMoney = row && !row.currency.includes('.');
  if (!isMoney) throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
  if (partsOfSystemAccount(id)) return { ...row, platform_id: null };
  const { platform_id } = await accountsByOperator.byId(runtime, id);
  return { ...row, platform_id };
}

/** Maximum number of accounts of customers and platforms that are counted. */
const MAX_COUNTED_ACCOUNTS = 50_000;

// Accounts of single platforms have a separate statement, because plans do not depend on the
// values. With the order and limit in the lateral join, the plan reads a range of the index for
// each platform.
const ALL_ACCOUNTS = 'from internal_accounts i join ledger_accounts a on a.id = i.id';
const ACCOUNTS_OF_PLATFORMS = `from unnest($5::text[]) o(id)
    cross join lateral (select id, platform_id, currency, customer_id from internal_accounts
      where platform_id = o.id order by created_at, id limit $1::int + 1) i
    cross join lateral (select balance, held from ledger_accounts where id = i.id limit 1) a`;

export const trialSql = (isLimited: boolean) => `with owned as materialized (
    select p.environment as mode, i.currency, i.customer_id is null as is_own, a.balance, a.held
    ${isLimited ? ACCOUNTS_OF_PLATFORMS : ALL_ACCOUNTS} join platforms p on p.id = i.platform_id
    limit $1::int + 1
  ), lines as (
    select mode, currency, case when is_own then 'PLATFORM' else 'CUSTOMER' end as type, balance, held
    from owned
    union all
    select split_part(id, ':', 2), currency, upper(split_part(id, ':', 3)), balance, held
    from ledger_accounts where id > $3 and id < $4${isLimited ? ' and false' : ''}
  )
  select mode, currency, type, count(*)::int4 as accounts, sum(held)::text as held,
    (-coalesce(sum(balance) filter (where balance < 0), 0))::text as debit,
    coalesce(sum(balance) filter (where balance > 0), 0)::text as credit,
    (select count(*)::int4 from owned) as counted
  from lines where $2::text is null or mode = $2
  group by mode, currency, type
  having bool_or(balance <> 0 or held <> 0)
  order by mode, currency, type`;

interface TrialRow {
  mode: Mode;
  currency: string;
  type: string;
  accounts: number;
  held: string;
  debit: string;
  credit: string;
  counted: number;
}

interface TrialLine {
  mode: Mode;
  currency: string;
  type: string;
  /** Null if the accounts were not counted. */
  accounts: number | null;
  debit: bigint;
  credit: bigint;
  held: bigint | null;
}

const isOwnerType = ({ type }: { type: string }) => type === 'CUSTOMER' || type === 'PLATFORM';

/** The lines of customers and platforms as the counterpart of the system accounts. */
function derivedLines(systemLines: readonly TrialLine[]): TrialLine[] {
  const netLines = new Map<string, TrialLine>();
  for (const { mode, currency, debit, credit } of systemLines) {
    const key = `${mode} ${currency}`;
    const line = netLines.get(key) ?? {
      ...{ mode, currency, type: 'CUSTOMER', accounts: null, held: null },
      ...{ debit: 0n, credit: 0n },
    };
    const netAmount = line.credit - line.debit + debit - credit;
    netLines.set(key, {
      ...line,
      debit: netAmount < 0n ? -netAmount : 0n,
      credit: netAmount > 0n ? netAmount : 0n,
    });
  }
  return [...netLines.values()];
}

const toNumbers = ({ debit, credit, held, ...line }: TrialLine) => ({
  ...line,
  debit: Number(debit),
  credit: Number(credit),
  net: Number(credit - debit),
  held: held === null ? null : Number(held),
});

function totalsOf(lines: readonly TrialLine[]) {
  const keys = [...new Set(lines.map(({ mode, currency }) => `${mode} ${currency}`))];
  return keys.map((key) => {
    const groupLines = lines.filter(({ mode, currency }) => `${mode} ${currency}` === key);
    const [{ mode, currency }] = groupLines as [TrialLine];
    const debit = groupLines.reduce((sum, each) => sum + each.debit, 0n);
    const credit = groupLines.reduce((sum, each) => sum + each.credit, 0n);
    return {
      ...{ mode, currency, debit: Number(debit), credit: Number(credit) },
      difference: Number(credit - debit),
    };
  });
}

interface TrialQuery {
  /** Undefined for all platforms. */
  platformIds?: readonly string[] | undefined;
  mode?: Mode | undefined;
  /** Maximum number of accounts of customers and platforms that are counted. */
  maxCounted?: number | undefined;
}

/**
 * Balances by environment, currency and type. `isCounted` is false if the number of accounts
 * exceeds the maximum. Accounts of customers and platforms are then one line, calculated from the
 * system accounts. With `platformIds`, system accounts are omitted. Above the maximum, the lines
 * then contain only a part of the accounts.
 */
export async function trialBalance(
  runtime: Runtime,
  { platformIds, mode, maxCounted = MAX_COUNTED_ACCOUNTS }: TrialQuery,
) {
  const { after, before } = SYSTEM_ACCOUNT_IDS;
  const isLimited = platformIds !== undefined;
  const values = [maxCounted, mode ?? null, after, before, ...(isLimited ? [platformIds] : [])];
  const rows = await runtime.db.query<TrialRow>(trialSql(isLimited), values);
  const isCounted = (rows[0]?.counted ?? 0) <= maxCounted;
  const countedLines = rows.map(({ counted: _, debit, credit, held, ...row }): TrialLine => {
    return { ...row, debit: BigInt(debit), credit: BigInt(credit), held: BigInt(held) };
  });
  const systemLines = countedLines.filter((line) => !isOwnerType(line));
  const isDerived = !isCounted && !isLimited;
  const lines = isDerived ? [...derivedLines(systemLines), ...systemLines] : countedLines;
  const sortKey = ({ mode: modeOfLine, currency, type }: TrialLine) =>
    `${MODES.indexOf(modeOfLine)} ${currency} ${LEDGER_ACCOUNT_TYPES.indexOf(type) + 10}`;
  const sortedLines = lines.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return {
    at: iso(runtime.effects.now()),
    isCounted,
    data: sortedLines.map(toNumbers),
    totals: totalsOf(sortedLines),
  };
}
