// `stablecoins operations|end`: the mints and burns of platforms, for whoever has to find out why one does
// not go on. One that was handed over waits for its provider as long as it takes, so those that wait are
// worth a look; where the provider never comes back, a person who has found out what became of one says so.

import {
  endStablecoinOperation,
  OPERATION_STATUSES,
  searchStablecoinOperations,
} from '../../features/stablecoins/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['CREATED', 'OPERATION', 'TYPE', 'AMOUNT', 'STATUS', 'AT THE PROVIDER', 'WHY'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await searchStablecoinOperations(system.runtime, {
    stablecoinId: args.text('coin'),
    platformId: await platformIn(system, args),
    status: args.text('status'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.createdAt,
      each.operationId,
      each.type,
      each.readable ?? each.amount,
      each.status,
      each.providerStatus ?? '-',
      each.failureReason ?? (each.uncounted === null ? '-' : `${each.uncounted} not counted`),
    ]),
  );
  return { json, text };
}

const OUTCOMES = ['completed', 'failed'] as const;

async function end({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await endStablecoinOperation(runtime, {
    operationId: args.required('operation'),
    outcome: args.required('as') as (typeof OUTCOMES)[number],
    reason: args.required('reason'),
  });
  return { json, text: `${json.operationId} is ${json.status}.\n` };
}

export const stablecoinOperationVerbs: readonly Verb[] = [
  {
    noun: 'stablecoins',
    verb: 'operations',
    summary: 'List mints and burns, latest first',
    flags: {
      coin: { value: 'STABLECOIN', help: 'Of one stablecoin (all)' },
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      status: { value: 'STATUS', choices: OPERATION_STATUSES, help: 'Only those in this state' },
      ...LIMIT,
      after: { value: 'OPERATION', help: 'Go on behind this one, the last of a list before' },
    },
    bare: 'coin',
    run: list,
  },
  {
    noun: 'stablecoins',
    verb: 'end',
    summary: 'End a mint or burn whose provider does not come back, as you found it',
    flags: {
      operation: { value: 'OPERATION', required: true, help: 'Id of the mint or burn' },
      as: {
        value: 'OUTCOME',
        required: true,
        choices: OUTCOMES,
        help: 'Whether tokens and money have moved',
      },
      reason: { value: 'TEXT', required: true, help: 'How you know, for those who look later' },
    },
    bare: 'operation',
    run: end,
  },
];
