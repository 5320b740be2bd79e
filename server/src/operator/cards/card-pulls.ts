// `cards pulls|end-pull`: money that an issuer is still taking for payments with cards, for whoever has to
// find out why a payment does not come to rest. It stays set aside as long as the issuer gives no final
// answer, and keeps its account and its customer from being closed; where none ever comes, a person who has
// found out says how it ended.

import { endFundingDebit, listFundingDebits } from '../../features/cards/index.ts';
import { type CommandArgs, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['SINCE', 'TRANSACTION', 'STATUS', 'PULL', 'AMOUNT', 'TRIES', 'MERCHANT'];
const NUMBERS = ['PULL', 'AMOUNT', 'TRIES'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const limit = limitIn(args);
  const platformId = await platformIn(system, args);
  const json = await listFundingDebits(system.runtime, { platformId, limit });
  const text = table(
    HEADS.map((head) => ({ head, align: NUMBERS.includes(head) ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.status,
      String(each.pull),
      each.readable,
      String(each.tries),
      each.merchant,
    ]),
  );
  return { json, text };
}

const OUTCOMES = ['taken', 'failed'];

function pullIn(args: CommandArgs): number | undefined {
  const text = args.text('pull');
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError('--pull must be the number of a pull, from 1');
}

async function end({ runtime }: System, args: CommandArgs): Promise<Output> {
  const json = await endFundingDebit(runtime, {
    transactionId: args.required('transaction'),
    pull: pullIn(args),
    taken: args.required('as') === 'taken',
    reason: args.required('reason'),
  });
  const what = `Pull ${json.pull} of ${json.transactionId}, ${json.readable} ${json.currency}`;
  const text = `${what}, is ${json.pullStatus}; the payment is ${json.status}.\n`;
  return { json, text };
}

export const cardFundingDebitVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'pulls',
    summary: 'List money that an issuer is still taking for card payments, oldest first',
    flags: { platform: { value: 'PLATFORM', help: 'Of one platform (all)' }, ...LIMIT },
    run: list,
  },
  {
    noun: 'cards',
    verb: 'end-pull',
    summary: 'End the taking of money whose issuer gives no answer, as you found it',
    flags: {
      transaction: { value: 'TRANSACTION', required: true, help: 'Id of the transaction' },
      as: {
        value: 'OUTCOME',
        required: true,
        choices: OUTCOMES,
        help: 'Whether the issuer has taken the money, or certainly has not',
      },
      reason: { value: 'TEXT', required: true, help: 'How you know, for those who look later' },
      pull: { value: 'NUMBER', help: 'Which one, where several are under way' },
    },
    bare: 'transaction',
    run: end,
  },
];
