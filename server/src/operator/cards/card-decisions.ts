// `cards decisions`: what networks asked of cards and told about their payments, what was decided, and why.
// It is the only place that knows of declines, which leave no payment behind and tell nobody.
import { listCardMessages } from '../../features/cards/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['AT', 'CARD', 'KIND', 'AMOUNT', 'CURRENCY', 'MERCHANT', 'DECISION', 'TRANSACTION'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await listCardMessages(system.runtime, {
    platformId: await platformIn(system, args),
    cardId: args.text('card'),
    declinedOnly: args.on('declined') ?? false,
    limit: limitIn(args),
  });
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.at,
      each.cardId,
      each.kind,
      each.readable,
      each.currency,
      each.merchant?.descriptor ?? '-',
      each.reason ?? 'approved',
      each.transactionId ?? '-',
    ]),
  );
  return { json, text };
}

export const cardDecisionVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'decisions',
    summary: 'List what networks asked of cards and told, and what was decided, latest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Of the cards of one platform (all)' },
      card: { value: 'CARD', help: 'Of one card (all)' },
      declined: { off: 'all', help: 'Only what was declined' },
      ...LIMIT,
    },
    bare: 'card',
    run: list,
  },
];
