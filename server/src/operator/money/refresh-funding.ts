// `accounts refresh-funding`: requests the funding details again after the operator's collection
// accounts have changed.
import { refreshAccountFunding } from '../../features/balances/internal-accounts/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

async function run(system: System, args: CommandArgs): Promise<Output> {
  const [accountId, platformId] = [args.text('account'), args.text('platform')];
  if ((accountId === undefined) === (platformId === undefined)) {
    throw usageError('Either ACCOUNT or --platform is needed');
  }
  const input = accountId === undefined ? { platformId: platformId as string } : { accountId };
  const json = await refreshAccountFunding(system, input);
  return { json, text: `${json.changed.length} of ${json.accounts} changed.\n` };
}

export const refreshFundingVerb: Verb = {
  noun: 'accounts',
  verb: 'refresh-funding',
  summary: 'Refresh the funding details of an account, or of all accounts of a platform',
  flags: {
    account: { value: 'ACCOUNT', help: 'Id of the account' },
    platform: { value: 'PLATFORM', help: 'Or all accounts of this platform' },
  },
  bare: 'account',
  run,
};
