// `suspense list|return|settle`: suspense items and shortfalls. An operator returns the funds of an
// item, and records the settlement of a shortfall. The amount follows from the ledger.

import {
  listSuspense,
  returnSuspense,
  settleShortfall,
} from '../../features/payments/manual/index.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import type { CommandArgs, Flags } from '../cli/flags.ts';
import { inline, LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['SINCE', 'TRANSACTION', 'ENVIRONMENT', 'AMOUNT', 'CURRENCY', 'REASON', 'TO'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await listSuspense(system.runtime, {
    platformId: await platformIn(system, args),
    environment: args.text('environment') as Mode | undefined,
    limit: limitIn(args),
  });
  const text = table(
    HEADS.map((heading) => ({ heading, align: heading === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.environment,
      each.readable,
      each.currency,
      each.failureReason ?? each.status,
      each.outside ? `outside ${inline(each.outside)}` : (each.to ?? 'missing'),
    ]),
  );
  return { json, text };
}

/** Executes a decision and shows the transaction after it. */
const decide =
  (work: typeof returnSuspense): Verb['run'] =>
  async ({ runtime }, args) => {
    const json = await work(runtime, {
      transactionId: args.required('transaction'),
      reference: args.text('reference'),
      reason: args.text('reason'),
    });
    const { transactionId: id, status, refund } = json;
    return { json, text: `${id} is ${status}${refund ? `, refund ${refund}` : ''}.\n` };
  };

const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'ID of the transaction' },
};
const REASON: Flags = { reason: { value: 'TEXT', help: 'Reason, stored with the decision' } };

export const suspenseVerbs: readonly Verb[] = [
  {
    noun: 'suspense',
    verb: 'list',
    summary: 'List suspense items and shortfalls, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      environment: {
        value: 'ENVIRONMENT',
        choices: MODES,
        help: 'Filter by environment (default: both)',
      },
      ...LIMIT,
    },
    run: list,
  },
  {
    noun: 'suspense',
    verb: 'return',
    summary: 'Return a suspense item to its balance, or record that it was sent externally',
    flags: {
      ...ID,
      reference: {
        value: 'REFERENCE',
        help: 'Reference that the bank assigned to the external transfer',
      },
      ...REASON,
    },
    positional: 'transaction',
    run: decide(returnSuspense),
  },
  {
    noun: 'suspense',
    verb: 'settle',
    summary: 'Record that a shortfall was settled',
    flags: {
      ...ID,
      reference: {
        value: 'REFERENCE',
        required: true,
        help: 'Reference that the bank assigned to the received funds',
      },
      ...REASON,
    },
    positional: 'transaction',
    run: decide(settleShortfall),
  },
];
