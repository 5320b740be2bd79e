// `external-accounts …`: the lifecycle of external accounts as an operator may move it.
import {
  externalAccountFeature,
  externalAccountHistory,
  listExternalAccounts,
  transitionExternalAccountByOperator,
} from '../../features/payees/external-accounts/index.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { shownActions } from '../money/accounts.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['ACCOUNT', 'OWNER', 'STATUS', 'CURRENCY', 'TYPE', 'DETAILS', 'CHANGED'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await listExternalAccounts(system.runtime, {
    platformId: await platformIn(system, args),
    status: args.text('status'),
    after: args.text('after'),
    limit: limitIn(args),
  });
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

const STATUSES = Object.keys(externalAccountFeature.states.externalAccount.transitions);
type Event = Parameters<typeof transitionExternalAccountByOperator>[1]['event'];

async function changeStatus({ runtime }: System, args: CommandArgs, event: Event): Promise<Output> {
  const reason = args.text('reason') ?? null;
  const accountId = args.required('account');
  const json = await transitionExternalAccountByOperator(runtime, { accountId, event, reason });
  const text = record([
    ['Account', json.accountId],
    ['Status', json.status],
    ['Reason', reason ?? 'none given'],
  ]);
  return { json: { ...json, reason }, text };
}

const ACCOUNT: Flags = {
  account: { value: 'ACCOUNT', required: true, help: 'Id of the external account' },
};

const statusVerb = (verb: string, event: Event, summary: string): Verb => ({
  noun: 'external-accounts',
  verb,
  summary,
  flags: { ...ACCOUNT, reason: { value: 'TEXT', help: 'Why, for those who look later' } },
  bare: 'account',
  run: (system, args) => changeStatus(system, args, event),
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
        choices: STATUSES,
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
    run: async ({ runtime }, args) =>
      shownActions(await externalAccountHistory(runtime, args.required('account'))),
  },
  statusVerb(
    'check',
    'check',
    'Have a bank account checked: until then nothing goes there (PENDING)',
  ),
  statusVerb('review', 'review', 'Have somebody look at an account (UNDER_REVIEW)'),
  statusVerb('clear', 'pass', 'Say that a check or review found nothing against it (ACTIVE)'),
  statusVerb('refuse', 'refuse', 'Say that it did not pass its check or review (INACTIVE)'),
  statusVerb('disable', 'disable', 'Say that an account cannot be used any more (INACTIVE)'),
  statusVerb('reactivate', 'reactivate', 'Let an account be used again (ACTIVE)'),
];
