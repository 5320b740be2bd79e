// `cards funding-debits|resolve-debit`: funding debits in progress, which show why a card payment
// does not settle. The amount is held until the final response of the issuer. Until then the account
// cannot be closed and the customer cannot be deleted. Without a response an operator records the
// verified result.
import { endFundingDebit, listFundingDebits } from '../../features/cards/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['SINCE', 'TRANSACTION', 'STATUS', 'DEBIT', 'AMOUNT', 'ATTEMPTS', 'MERCHANT'];
const NUMBERS = ['DEBIT', 'AMOUNT', 'ATTEMPTS'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const limit = limitIn(args);
  const platformId = await platformIn(system, args);
  const { data: json } = await listFundingDebits(system.runtime, { platformId, limit });
  const text = table(
    HEADS.map((heading) => ({ heading, align: NUMBERS.includes(heading) ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.status,
      String(each.number),
      each.readable,
      String(each.attempts),
      each.merchant,
    ]),
  );
  return { json, text };
}

const OUTCOMES = ['completed', 'failed'];

function numberIn(args: CommandArgs): number | undefined {
  const text = args.text('number');
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError('--number must be a whole number from 1 to 9999');
}

async function end({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await endFundingDebit(runtime, {
    transactionId: args.required('transaction'),
    number: numberIn(args),
    completed: args.required('as') === 'completed',
    reason: args.required('reason'),
  });
  const amount = `${json.readable} ${json.currency}`;
  const debit = `Funding debit ${json.number} of ${json.transactionId}, ${amount},`;
  const text = `${debit} is ${json.debitStatus}. The payment is ${json.status}.\n`;
  return { json, text };
}

export const cardFundingDebitVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'funding-debits',
    summary: 'List funding debits in progress, oldest first',
    flags: { platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' }, ...LIMIT },
    run: list,
  },
  {
    noun: 'cards',
    verb: 'resolve-debit',
    summary: 'Record the verified result of a funding debit that its issuer does not report',
    flags: {
      transaction: { value: 'TRANSACTION', required: true, help: 'ID of the transaction' },
      as: {
        value: 'OUTCOME',
        required: true,
        choices: OUTCOMES,
        help: 'Verified result: completed if the issuer has debited the funds, failed if it has not',
      },
      reason: { value: 'TEXT', required: true, help: 'Evidence, stored with the decision' },
      number: { value: 'NUMBER', help: 'Number of the funding debit, if several are in progress' },
    },
    positional: 'transaction',
    run: end,
  },
];
