// `cards decisions`: authorization requests and messages of card networks, the decisions and their
// reasons. A decline is visible only in its message, because it creates no payment and emits no
// event.
import { listCardMessages } from '../../features/cards/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

const HEADS = ['AT', 'CARD', 'KIND', 'AMOUNT', 'CURRENCY', 'MERCHANT', 'DECISION', 'TRANSACTION'];

async function list(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await listCardMessages(system.runtime, {
    platformId: await platformIn(system, args),
    cardId: args.text('card'),
    declinedOnly: args.isOn('declined') ?? false,
    limit: limitIn(args),
  });
  const text = table(
    HEADS.map((heading) => ({ heading, align: heading === 'AMOUNT' ? 'right' : 'left' })),
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
    summary: 'List card authorization requests and decisions, newest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      card: { value: 'CARD', help: 'Filter by card (default: all)' },
      declined: { negation: 'all', help: 'Declined only' },
      ...LIMIT,
    },
    positional: 'card',
    run: list,
  },
];
