// `accounts list|history|hold|release|close|fail|retry|refresh-funding`: the life of internal accounts as
// only an operator may move it. A hold takes effect in the commit that writes it: what was set aside for
// payments goes on, refunds come back, and nothing new goes out or in. Every move is kept with its reason.
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import {
  ACTIVATE_ACCOUNTS,
  accountMoves,
  INTERNAL_ACCOUNT_STATUSES,
  type InternalAccountEvent,
  type InternalAccountRow,
  internalAccountStates,
  internalAccounts,
  moveInternalAccount,
  refuseWhileUsed,
} from '../../features/balances/internal-accounts/index.ts';
import { ledgerAccounts } from '../../features/balances/ledger-accounts/index.ts';
import { customers } from '../../features/customers/records/index.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import type { Filter } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';
import { refreshFundingVerb } from './funding.ts';

interface Holding {
  balance: bigint;
  held: bigint;
}

const view = (row: InternalAccountRow, { balance, held }: Holding) => ({
  accountId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  currency: row.currency,
  status: row.status,
  balance: Number(balance - held),
  held: Number(held),
  owed: Number(row.owed),
  updatedAt: iso(row.updated_at),
});

type Shown = ReturnType<typeof view>;

const shown = (amount: number, currency: string) =>
  readable(BigInt(amount), findCurrency(currency)?.decimals ?? 0);

async function viewsOf({ runtime }: System, rows: readonly InternalAccountRow[]) {
  const kept = await Promise.all(rows.map((row) => runtime.db.read(ledgerAccounts, row.id)));
  return rows.map((row, at) => view(row, kept[at] ?? { balance: 0n, held: 0n }));
}

async function matching(system: System, given: Given): Promise<InternalAccountRow[]> {
  const filters: Filter<typeof internalAccounts>[] = [];
  const platform = given.text('platform');
  if (platform !== undefined) {
    const { id } = await platformOf(system, platform);
    filters.push({ column: 'platform_id', op: '=', value: id });
  }
  const status = given.text('status');
  if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
  if (given.on('owing')) filters.push({ column: 'owed', op: '>=', value: 1n });
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await accountOf(system, after));
  const query = { filters, sort: 'asc', limit: limitIn(given), cursor } as const;
  return (await system.runtime.db.page(internalAccounts, query)).rows;
}

const COLUMNS = [
  { head: 'ACCOUNT' },
  { head: 'OWNER' },
  { head: 'STATUS' },
  { head: 'CURRENCY' },
  { head: 'BALANCE', align: 'right' },
  { head: 'HELD', align: 'right' },
  { head: 'OWED', align: 'right' },
  { head: 'CHANGED' },
] as const;

async function list(system: System, given: Given): Promise<Output> {
  const json = await viewsOf(system, await matching(system, given));
  const rows = json.map((each) => [
    each.accountId,
    each.customerId ?? each.platformId,
    each.status,
    each.currency,
    shown(each.balance, each.currency),
    shown(each.held, each.currency),
    shown(each.owed, each.currency),
    each.updatedAt,
  ]);
  return { json, text: table(COLUMNS, rows) };
}

async function accountOf({ runtime }: System, id: string): Promise<InternalAccountRow> {
  const row = isId(id, 'InternalAccount') ? await runtime.db.read(internalAccounts, id) : undefined;
  if (!row) throw notFound('account');
  return row;
}

/** Who moved an account by hand, inside or outside. */
export async function historyOf(system: System, id: string): Promise<Output> {
  const moves = await system.runtime.db.find(accountMoves, { account_id: id }, { orderBy: 'id' });
  const json = moves.map(({ actor, move, reason, created_at }) => ({
    actor,
    move,
    reason,
    createdAt: iso(created_at),
  }));
  const heads = ['TIME', 'WHO', 'MOVE', 'REASON'].map((head) => ({ head }));
  const rows = json.map((each) => [each.createdAt, each.actor, each.move, each.reason ?? '']);
  return { json, text: table(heads, rows) };
}

/** What has to hold besides the table of states. */
async function refuseUnlessFree(ctx: Ctx, row: InternalAccountRow, event: InternalAccountEvent) {
  if (event === 'close') await refuseWhileUsed(ctx, row);
  if (event !== 'unfreeze' && event !== 'retry') return;
  const owner = row.customer_id === null ? null : await ctx.read(customers, row.customer_id);
  if (owner?.deleted_at != null) throw new Error('The customer of this account was deleted.');
}

async function move(system: System, given: Given, event: InternalAccountEvent): Promise<Output> {
  const { id, platform_id } = await accountOf(system, given.needed('account'));
  const { environment } = await platformOf(system, platform_id);
  const caller = systemCaller(platform_id, environment);
  const reason = given.text('reason') ?? null;
  const moved = await operate(system.runtime, caller, async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (!row) throw notFound('account');
    if (internalAccountStates.peek(row.status, event) === undefined) {
      throw new Error(`The account is ${row.status}.`);
    }
    await refuseUnlessFree(ctx, row, event);
    const after = moveInternalAccount(ctx, row, event, { actor: 'operator', reason });
    if (event === 'retry') {
      ctx.later(ACTIVATE_ACCOUNTS, { platformId: platform_id, accountIds: [id] });
    }
    return after;
  });
  const [json] = (await viewsOf(system, [moved])) as [Shown];
  const text = record([
    ['Account', json.accountId],
    ['Status', json.status],
    ['Reason', reason ?? 'none given'],
  ]);
  return { json: { ...json, reason }, text };
}

const ACCOUNT = { account: { value: 'ACCOUNT', required: true, help: 'Id of the account' } };

const mover = (
  verb: string,
  event: InternalAccountEvent,
  summary: string,
  needsReason = false,
): Verb => {
  const reason: Flags[string] = {
    value: 'TEXT',
    help: 'Why, for those who look later',
    ...(needsReason ? { required: true } : {}),
  };
  return {
    noun: 'accounts',
    verb,
    summary,
    flags: { ...ACCOUNT, reason },
    bare: 'account',
    run: (system, given) => move(system, given, event),
  };
};

export const accountVerbs: readonly Verb[] = [
  {
    noun: 'accounts',
    verb: 'list',
    summary: 'List internal accounts, oldest first, with what they hold and owe',
    flags: {
      platform: { value: 'PLATFORM', help: 'Only those of this platform' },
      status: {
        value: 'STATUS',
        choices: INTERNAL_ACCOUNT_STATUSES,
        help: 'Only those in this state',
      },
      owing: { off: 'all', help: 'Only those whose owner owes something' },
      ...LIMIT,
      after: { value: 'ACCOUNT', help: 'Go on behind this account, the last of a list before' },
    },
    bare: 'platform',
    run: list,
  },
  {
    noun: 'accounts',
    verb: 'history',
    summary: 'Show who moved an account by hand, and why',
    flags: ACCOUNT,
    bare: 'account',
    run: async (system, given) =>
      historyOf(system, (await accountOf(system, given.needed('account'))).id),
  },
  mover('hold', 'freeze', 'Freeze an account: nothing new moves out of it or in', true),
  mover('release', 'unfreeze', 'Let a frozen account move money again'),
  mover('close', 'close', 'Close an account for good; it must be empty'),
  mover('fail', 'fail', 'Say that a pending account could not be provided for'),
  mover('retry', 'retry', 'Provide for a failed account once more'),
  refreshFundingVerb,
];
