// `external-accounts …`: the life of accounts outside as an operator may move it, with what a bank, a check
// or a person found out. Each move is told to the platform and kept with its reason, and counts for what is
// decided from then on: payments that are with a bank already go on. Proofs of ownership are not in it.

import { accountMoves } from '../../features/balances/internal-accounts/index.ts';
import {
  EXTERNAL_ACCOUNT_STATUSES,
  type ExternalAccountEvent,
  type ExternalAccountRow,
  externalAccountStates,
  externalAccounts,
  hasInstitution,
  moveExternalAccount,
  noteDeclared,
  presentExternalAccount,
} from '../../features/payees/external-accounts/index.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { iso } from '../../kernel/world.ts';
import type { Filter } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { operate } from '../../runtime/operation/operate.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, refused, type System, type Verb } from '../cli/verb.ts';
import { historyOf } from '../money/accounts.ts';
import { platformOf } from '../platforms/platform.ts';

/** Numbers show their last characters; whoever pays by hand finds them whole in the queue. */
function view(row: ExternalAccountRow) {
  const {
    accountType: _,
    paymentRails: __,
    beneficiary: ___,
    ...account
  } = presentExternalAccount(row, { masked: true }).accountInfo as Record<string, unknown>;
  return {
    accountId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    currency: row.currency,
    status: row.status,
    accountType: row.account_type,
    account,
    updatedAt: iso(row.updated_at),
  };
}

async function accountOf({ runtime }: System, id: string): Promise<ExternalAccountRow> {
  const row = isId(id, 'ExternalAccount') ? await runtime.db.read(externalAccounts, id) : undefined;
  if (!row || row.deleted_at !== null) throw notFound('account');
  return row;
}

const HEADS = ['ACCOUNT', 'OWNER', 'STATUS', 'CURRENCY', 'TYPE', 'DETAILS', 'CHANGED'];

async function list(system: System, given: Given): Promise<Output> {
  const filters: Filter<typeof externalAccounts>[] = [{ column: 'deleted_at', op: 'isNull' }];
  const platform = given.text('platform');
  if (platform !== undefined) {
    const { id } = await platformOf(system, platform);
    filters.push({ column: 'platform_id', op: '=', value: id });
  }
  const status = given.text('status');
  if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await accountOf(system, after));
  const query = { filters, sort: 'asc', limit: limitIn(given), cursor } as const;
  const json = (await system.runtime.db.page(externalAccounts, query)).rows.map(view);
  const text = table(
    HEADS.map((head) => ({ head })),
    json.map((each) => [
      each.accountId,
      each.customerId ?? each.platformId,
      each.status,
      each.currency,
      each.accountType,
      inline(each.account),
      each.updatedAt,
    ]),
  );
  return { json, text };
}

/** Stages the move and keeps who made it; says so where the account's state forbids it. */
function moveIt(
  ctx: Ctx,
  row: ExternalAccountRow,
  event: ExternalAccountEvent,
  reason: string | null,
): ExternalAccountRow {
  if (externalAccountStates.peek(row.status, event) === undefined) {
    throw refused(`The account is ${row.status}.`);
  }
  if (event === 'check' && !hasInstitution(row.info)) {
    throw refused('A wallet has no bank that could check it. It can be reviewed.');
  }
  const moved = moveExternalAccount(ctx, row, event);
  // It may be the wallet that a held deposit came from.
  noteDeclared(ctx, moved);
  ctx.insert(accountMoves, {
    id: ctx.id('AccountMove'),
    account_id: row.id,
    platform_id: row.platform_id,
    actor: 'operator',
    move: event,
    reason,
    created_at: ctx.now,
  });
  return moved;
}

async function move(system: System, given: Given, event: ExternalAccountEvent): Promise<Output> {
  const { id, platform_id } = await accountOf(system, given.needed('account'));
  const { environment } = await platformOf(system, platform_id);
  const reason = given.text('reason') ?? null;
  const caller = systemCaller(platform_id, environment);
  const moved = await operate(system.runtime, caller, async (ctx) => {
    const row = await ctx.read(externalAccounts, id);
    if (!row || row.deleted_at !== null) throw notFound('account');
    return moveIt(ctx, row, event, reason);
  });
  const text = record([
    ['Account', id],
    ['Status', moved.status],
    ['Reason', reason ?? 'none given'],
  ]);
  return { json: { ...view(moved), reason }, text };
}

const ACCOUNT: Flags = {
  account: { value: 'ACCOUNT', required: true, help: 'Id of the external account' },
};

const mover = (verb: string, event: ExternalAccountEvent, summary: string): Verb => ({
  noun: 'external-accounts',
  verb,
  summary,
  flags: { ...ACCOUNT, reason: { value: 'TEXT', help: 'Why, for those who look later' } },
  bare: 'account',
  run: (system, given) => move(system, given, event),
});

export const externalAccountVerbs: readonly Verb[] = [
  {
    noun: 'external-accounts',
    verb: 'list',
    summary: 'List accounts outside, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Only those of this platform' },
      status: {
        value: 'STATUS',
        choices: EXTERNAL_ACCOUNT_STATUSES,
        help: 'Only those in this state',
      },
      ...LIMIT,
      after: { value: 'ACCOUNT', help: 'Go on behind this account, the last of a list before' },
    },
    bare: 'platform',
    run: list,
  },
  {
    noun: 'external-accounts',
    verb: 'history',
    summary: 'Show who moved an account by hand, and why',
    flags: ACCOUNT,
    bare: 'account',
    run: async (system, given) =>
      historyOf(system, (await accountOf(system, given.needed('account'))).id),
  },
  mover('check', 'check', 'Have a bank account checked: until then nothing goes there (PENDING)'),
  mover('review', 'review', 'Have somebody look at an account (UNDER_REVIEW)'),
  mover('clear', 'pass', 'Say that a check or review found nothing against it (ACTIVE)'),
  mover('refuse', 'refuse', 'Say that it did not pass its check or review (INACTIVE)'),
  mover('disable', 'disable', 'Say that an account cannot be used any more (INACTIVE)'),
  mover('reactivate', 'reactivate', 'Let an account be used again (ACTIVE)'),
];
