// `ledger verify` and `ledger postings`: the verification that balances equal the sums of their
// transfers, and the transfers of one transaction.

import { listPostings, readableAmount, verifyLedger } from '../../features/accounting/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';

const TOTAL_COLUMNS = [
  { heading: 'CURRENCY' },
  { heading: 'ACCOUNTS', align: 'right' },
  { heading: 'TRANSFERS', align: 'right' },
  { heading: 'OWNED', align: 'right' },
  { heading: 'HELD', align: 'right' },
  { heading: 'OPEN HOLDS', align: 'right' },
  { heading: 'SYSTEM', align: 'right' },
  { heading: 'SUM', align: 'right' },
] as const;

async function verify({ runtime }: System): Promise<Output> {
  const { balanced, totals, problems, json } = await verifyLedger(runtime);
  const rows = totals.map((each) => [
    each.currency,
    String(each.accounts),
    String(each.transfers),
    readableAmount(each.owned, each.currency),
    readableAmount(each.held, each.currency),
    String(each.holds),
    readableAmount(each.system, each.currency),
    readableAmount(each.sum, each.currency),
  ]);
  const verdict = balanced ? 'The books balance.' : 'THE BOOKS DO NOT BALANCE:';
  const lines = [verdict, ...problems.map((each) => `  ${each}`)];
  return {
    json,
    text: `${table(TOTAL_COLUMNS, rows)}\n${lines.join('\n')}\n`,
    hasFailed: !balanced,
  };
}

const MEANING: Record<string, string> = {
  posted: 'posted',
  pending: 'held',
  post: 'posted from a hold',
  void: 'hold voided',
};

async function printPostings({ runtime }: System, args: CommandArgs): Promise<Output> {
  const transactionId = args.required('transaction');
  const { postings: lines } = await listPostings(runtime, transactionId);
  const heads = ['TIME', 'STEP', 'FROM', 'TO', 'AMOUNT', 'CURRENCY', 'MEANING'];
  const text = table(
    heads.map((heading) => ({ heading, align: heading === 'AMOUNT' ? 'right' : 'left' })),
    lines.map((each) => [
      each.createdAt,
      each.step,
      each.debit,
      each.credit,
      readableAmount(BigInt(each.amount), each.currency),
      each.currency,
      MEANING[each.phase] ?? each.phase,
    ]),
  );
  return { json: { transactionId, postings: lines }, text };
}

export const ledgerVerbs: readonly Verb[] = [
  {
    noun: 'ledger',
    verb: 'verify',
    summary: 'Recompute every balance from the transfers. Exit code 1 on a difference',
    flags: {},
    run: verify,
  },
  {
    noun: 'ledger',
    verb: 'postings',
    summary: 'Show the transfers of a transaction',
    flags: {
      transaction: { value: 'TRANSACTION', required: true, help: 'ID of the transaction' },
    },
    positional: 'transaction',
    run: printPostings,
  },
];
