// `stablecoins operations|end`: mints and burns of platforms, to investigate delays. Only an unpaid
// operation expires. Any other submitted operation waits for its provider without a limit. If the
// provider never responds, an operator records the verified result.

import {
  endStablecoinOperation,
  OPERATION_STATUSES,
  OUTCOMES,
  searchStablecoinOperations,
} from '../../features/stablecoins/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['CREATED', 'OPERATION', 'TYPE', 'AMOUNT', 'STATUS', 'PROVIDER STATUS', 'REASON'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await searchStablecoinOperations(system.runtime, {
    stablecoinId: args.text('coin'),
    platformId: await platformIn(system, args),
    status: args.text('status'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const text = table(
    HEADS.map((heading) => ({ heading, align: heading === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.createdAt,
      each.operationId,
      each.type,
      each.readable ?? each.amount,
      each.status,
      each.providerStatus ?? '-',
      each.failureReason ?? (each.uncounted === null ? '-' : `${each.uncounted} not circulating`),
    ]),
  );
  return { json, text };
}

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
    summary: 'List mints and burns, newest first',
    flags: {
      coin: { value: 'STABLECOIN', help: 'Filter by stablecoin (default: all)' },
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      status: {
        value: 'STATUS',
        choices: OPERATION_STATUSES,
        help: 'Filter by status (default: all)',
      },
      ...LIMIT,
      after: {
        value: 'OPERATION',
        help: 'Continue after this operation, the last of the previous list',
      },
    },
    positional: 'coin',
    run: list,
  },
  {
    noun: 'stablecoins',
    verb: 'end',
    summary: 'Record the verified result of a mint or burn that its provider does not report',
    flags: {
      operation: { value: 'OPERATION', required: true, help: 'ID of the mint or burn' },
      as: {
        value: 'OUTCOME',
        required: true,
        choices: OUTCOMES,
        help: 'Verified result: completed if tokens and funds were transferred, failed if they were not',
      },
      reason: { value: 'TEXT', required: true, help: 'Evidence, stored with the decision' },
    },
    positional: 'operation',
    run: end,
  },
];
