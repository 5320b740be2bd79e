// `accounts …`: transitions of internal accounts that only an operator may make, and their funding
// details.

import { formatAmount } from '../../catalog/currencies/money-format.ts';
import type { accountActionsOf } from '../../features/balances/account-actions/index.ts';
import {
  accountsByOperator,
  internalAccountFeature,
  refreshAccountFunding,
  transitionAccount,
} from '../../features/balances/internal-accounts/index.ts';
import { accountPorts } from '../../features.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const amountText = (amount: number, currency: string) =>
  formatAmount({ currency, amount: BigInt(amount) });

const COLUMNS = [
  { heading: 'ACCOUNT' },
  { heading: 'OWNER' },
  { heading: 'STATUS' },
  { heading: 'CURRENCY' },
  { heading: 'BALANCE', align: 'right' },
  { heading: 'HELD', align: 'right' },
  { heading: 'OWED', align: 'right' },
  { heading: 'CHANGED' },
] as const;

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await accountsByOperator.list(system.runtime, {
    platformId: await platformIn(system, args),
    status: args.text('status'),
    isOwing: args.isOn('owing'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const rows = json.map((each) => [
    each.accountId,
    each.customerId ?? each.platformId,
    each.status,
    each.currency,
    amountText(each.balance, each.currency),
    amountText(each.held, each.currency),
    amountText(each.owed, each.currency),
    each.updatedAt,
  ]);
  return { json, text: table(COLUMNS, rows) };
}

const STATUSES = Object.keys(internalAccountFeature.states.internalAccount.transitions);
type Event = Parameters<typeof transitionAccount>[1]['event'];

/** Actions on an account, a stablecoin, a mint or a burn. */
export function actionsOutput(json: Awaited<ReturnType<typeof accountActionsOf>>): Output {
  const heads = ['TIME', 'ACTOR', 'TRANSITION', 'REASON'];
  const rows = json.map((each) => [each.createdAt, each.actor, each.action, each.reason ?? '']);
  return { json, text: table(heads, rows) };
}

async function changeStatus({ runtime }: System, args: CommandArgs, event: Event): Promise<Output> {
  const reason = args.text('reason') ?? null;
  const json = await transitionAccount(
    { runtime, ...accountPorts },
    { accountId: args.required('account'), event, reason },
  );
  const text = record([
    ['Account', json.accountId],
    ['Status', json.status],
    ['Reason', reason ?? 'none'],
  ]);
  return { json: { ...json, reason }, text };
}

const ACCOUNT = { account: { value: 'ACCOUNT', required: true, help: 'ID of the account' } };

const statusVerb = (
  verb: string,
  event: Event,
  summary: string,
  isReasonRequired = false,
): Verb => {
  const reason: Flags[string] = {
    value: 'TEXT',
    help: 'Reason, stored with the transition',
    ...(isReasonRequired ? { required: true } : {}),
  };
  return {
    noun: 'accounts',
    verb,
    summary,
    flags: { ...ACCOUNT, reason },
    positional: 'account',
    run: (system, args) => changeStatus(system, args, event),
  };
};

async function refreshFunding(system: System, args: CommandArgs): Promise<Output> {
  const [accountId, platformId] = [args.text('account'), args.text('platform')];
  if ((accountId === undefined) === (platformId === undefined)) {
    throw usageError('Either ACCOUNT or --platform is required');
  }
  const input = accountId === undefined ? { platformId: platformId as string } : { accountId };
  const { platformId: _, ...json } = await refreshAccountFunding(system, input);
  const text = `Funding details of ${json.changed.length} of ${json.accounts} accounts changed.\n`;
  return { json, text };
}

export const refreshFundingVerb: Verb = {
  noun: 'accounts',
  verb: 'refresh-funding',
  summary: 'Refresh the funding details of an account, or of all accounts of a platform',
  flags: {
    account: { value: 'ACCOUNT', help: 'ID of the account. Required without --platform' },
    platform: { value: 'PLATFORM', help: 'Refresh all accounts of this platform' },
  },
  positional: 'account',
  run: refreshFunding,
};

export const accountVerbs: readonly Verb[] = [
  {
    noun: 'accounts',
    verb: 'list',
    summary: 'List internal accounts with balances and amounts owed, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      status: {
        value: 'STATUS',
        choices: STATUSES,
        help: 'Filter by state (default: all)',
      },
      owing: { negation: 'all', help: 'Only accounts with an amount owed' },
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
    noun: 'accounts',
    verb: 'history',
    summary: 'List manual transitions of an account',
    flags: ACCOUNT,
    positional: 'account',
    run: async ({ runtime }, args) =>
      actionsOutput((await accountsByOperator.history(runtime, args.required('account'))).data),
  },
  statusVerb(
    'freeze',
    'freeze',
    'Freeze an account. Payments are rejected, deposits held and refunds credited',
    true,
  ),
  statusVerb('unfreeze', 'unfreeze', 'Unfreeze an account'),
  statusVerb('close', 'close', 'Close an empty account permanently'),
  statusVerb('fail', 'fail', 'Record that a pending account could not be opened at its provider'),
  statusVerb('retry', 'retry', 'Retry the opening of a failed account'),
  refreshFundingVerb,
];
