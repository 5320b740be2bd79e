// `stablecoins list|history|approve|reject|disable`: the stablecoins that the service may use in
// its own accounts and payments. A platform requests this use, and the operator decides. Every
// decision is stored, with its reason if one is stated.

import {
  decideStablecoin,
  SERVICE_STATUSES,
  type ServiceDecision,
  searchStablecoins,
  stablecoinHistory,
} from '../../features/stablecoins/index.ts';
import { formatUnits } from '../../kernel/money.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';
import { actionsOutput } from './accounts.ts';

const CIRCULATING = 'CIRCULATING';
const HEADS = [
  ...['CREATED', 'STABLECOIN', 'PLATFORM', 'SYMBOL', CIRCULATING, 'ISSUANCE', 'SERVICE'],
];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await searchStablecoins(system.runtime, {
    platformId: await platformIn(system, args),
    serviceStatus: args.text('status'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    HEADS.map((heading) => ({ heading, align: heading === CIRCULATING ? 'right' : 'left' })),
    json.map((each) => [
      each.createdAt,
      each.id,
      each.platformId,
      each.symbol,
      formatUnits(BigInt(each.circulating), each.decimals),
      each.issuanceStatus,
      each.serviceOperationsStatus,
    ]),
  );
  return { json, text };
}

async function decide(
  { runtime }: System,
  args: CommandArgs,
  decision: ServiceDecision,
): Promise<Output> {
  const stablecoinId = args.required('stablecoin');
  const reason = args.text('reason') ?? null;
  const json = await decideStablecoin(runtime, { stablecoinId, decision, reason });
  const text = record([
    ['Stablecoin', json.id],
    ['Symbol', json.symbol],
    ['Service', json.serviceOperationsStatus],
    ['Reason', reason ?? 'none'],
  ]);
  return { json, text };
}

const COIN: Flags = {
  stablecoin: { value: 'STABLECOIN', required: true, help: 'ID of the stablecoin' },
};

const decisionVerb = (verb: ServiceDecision, summary: string): Verb => ({
  noun: 'stablecoins',
  verb,
  summary,
  flags: { ...COIN, reason: { value: 'TEXT', help: 'Reason, stored with the decision' } },
  positional: 'stablecoin',
  run: (system, args) => decide(system, args, verb),
});

export const stablecoinVerbs: readonly Verb[] = [
  {
    noun: 'stablecoins',
    verb: 'list',
    summary: 'List stablecoins, oldest first. PENDING_APPROVAL needs a decision',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      status: {
        value: 'STATUS',
        choices: SERVICE_STATUSES,
        help: 'Filter by serviceOperationsStatus (default: all)',
      },
      ...LIMIT,
      after: {
        value: 'STABLECOIN',
        help: 'Continue after this stablecoin, the last of the previous list',
      },
    },
    positional: 'platform',
    run: list,
  },
  {
    noun: 'stablecoins',
    verb: 'history',
    summary: 'List the decisions about a stablecoin, mint or burn, with reasons',
    flags: {
      stablecoin: { value: 'ID', required: true, help: 'ID of the stablecoin, mint or burn' },
    },
    positional: 'stablecoin',
    run: async ({ runtime }, args) =>
      actionsOutput((await stablecoinHistory(runtime, args.required('stablecoin'))).data),
  },
  decisionVerb('approve', 'Approve the use of a stablecoin, once provisioned (ENABLING)'),
  decisionVerb(
    'reject',
    "Reject a platform's request. The platform may request again (NOT_ENABLED)",
  ),
  decisionVerb('disable', 'Disable a stablecoin (DISABLED)'),
];
