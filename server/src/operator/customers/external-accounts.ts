// `external-accounts …`: external accounts, their manual transitions, and the history of these
// transitions.
import {
  externalAccountFeature,
  externalAccountReviews,
  listExternalAccounts,
  transitionExternalAccountByOperator,
} from '../../features/payees/external-accounts/index.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { actionsOutput } from '../money/accounts.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['ACCOUNT', 'OWNER', 'STATUS', 'CURRENCY', 'TYPE', 'DETAILS', 'CHANGED'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await listExternalAccounts(system.runtime, {
    platformId: await platformIn(system, args),
    status: args.text('status'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    HEADS,
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
    ['Reason', reason ?? 'none'],
  ]);
  return { json: { ...json, reason }, text };
}

/** Maximum number of rows that the history prints. */
const MAX_ACTIONS = 1_000;

const ACCOUNT: Flags = {
  account: { value: 'ACCOUNT', required: true, help: 'ID of the external account' },
};

const statusVerb = (verb: string, event: Event, summary: string): Verb => ({
  noun: 'external-accounts',
  verb,
  summary,
  flags: { ...ACCOUNT, reason: { value: 'TEXT', help: 'Reason, stored with the transition' } },
  positional: 'account',
  run: (system, args) => changeStatus(system, args, event),
});

export const externalAccountVerbs: readonly Verb[] = [
  {
    noun: 'external-accounts',
    verb: 'list',
    summary: 'List external accounts, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      status: {
        value: 'STATUS',
        choices: STATUSES,
        help: 'Filter by state (default: all)',
      },
      ...LIMIT,
      after: {
        value: 'ACCOUNT',
        help: 'Continue after this account, the last of the previous list',
      },
    },
    positional: 'platform',
    run: list,
  },
  {
    noun: 'external-accounts',
    verb: 'history',
    summary: 'List manual transitions of an account',
    flags: ACCOUNT,
    positional: 'account',
    run: async ({ runtime }, args) => {
      const page = { limit: MAX_ACTIONS };
      const { data } = await externalAccountReviews.history(
        runtime,
        args.required('account'),
        page,
      );
      return actionsOutput(data);
    },
  },
  statusVerb(
    'check',
    'check',
    'Start a check of a bank account. No payouts until it passes (PENDING)',
  ),
  statusVerb('review', 'review', 'Put an account under review (UNDER_REVIEW)'),
  statusVerb('clear', 'pass', 'Record that a check or review passed (ACTIVE)'),
  statusVerb('reject', 'reject', 'Record that a check or review failed (INACTIVE)'),
  statusVerb('disable', 'disable', 'Disable an account (INACTIVE)'),
  statusVerb('reactivate', 'reactivate', 'Reactivate an account (ACTIVE)'),
];
