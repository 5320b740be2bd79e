// `cards exceptions|resolve`: settled card payments whose account could not be debited, and decisions
// about these payments. Refunds for a closed account are listed too, because they need a decision.
// `suspense return` records that a refund was sent. The commands also apply to the sandbox.
import { formatAmount } from '../../catalog/currencies/money-format.ts';
import { listCardExceptions, resolveCardException } from '../../features/cards/index.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

type CardException = Awaited<ReturnType<typeof listCardExceptions>>['data'][number];

const amountText = (amount: number, currency: string | null) =>
  formatAmount({ currency: currency ?? '', amount: BigInt(amount) });

const HEADS = ['SINCE', 'TRANSACTION', 'STATUS', 'MISSING', 'HELD', 'SUSPENSE', 'MERCHANT'];
const AMOUNTS = ['MISSING', 'HELD', 'SUSPENSE'];

const cellsOf = (each: CardException): string[] => [
  each.since,
  each.transactionId,
  each.status,
  amountText(each.missingAmount, each.currency),
  amountText(each.heldAmount, each.currency),
  amountText(each.suspense.amount, each.suspense.currency),
  each.merchant,
];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const limit = limitIn(args);
  const platformId = await platformIn(system, args);
  const { data: json } = await listCardExceptions(system.runtime, { platformId, limit });
  const text = table(
    HEADS.map((heading) => ({ heading, align: AMOUNTS.includes(heading) ? 'right' : 'left' })),
    json.map(cellsOf),
  );
  return { json, text };
}

const OUTCOMES = ['collect', 'write-off'] as const;

async function resolve({ runtime }: System, args: CommandArgs): Promise<Output> {
  const transactionId = args.required('transaction');
  const outcome = OUTCOMES.find((each) => each === args.text('outcome'));
  if (!outcome) throw usageError(`--outcome must be one of ${OUTCOMES.join(', ')}`);
  const reason = args.text('reason');
  const json = await resolveCardException(runtime, { transactionId, outcome, reason });
  const writtenOffText = `${amountText(json.writtenOffAmount, json.currency)} ${json.currency}`;
  return { json, text: `${transactionId} is ${json.status}, ${writtenOffText} written off.\n` };
}

const RESOLVE_FLAGS: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'ID of the transaction' },
  outcome: {
    value: 'OUTCOME',
    required: true,
    choices: OUTCOMES,
    help: 'collect: debit the account, which can overdraw it. write-off: the operator bears the amount',
  },
  reason: { value: 'TEXT', help: 'Reason, stored with the decision' },
};

export const cardExceptionVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'exceptions',
    summary: 'List card payments that need a decision, oldest first',
    flags: { platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' }, ...LIMIT },
    run: list,
  },
  {
    noun: 'cards',
    verb: 'resolve',
    summary: 'Decide who bears a card payment that could not be debited',
    flags: RESOLVE_FLAGS,
    positional: 'transaction',
    run: resolve,
  },
];
