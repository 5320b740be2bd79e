// `cards reveals`: requests to show card numbers, and when the numbers were shown. Unused requests
// are listed too. The list contains no secret, because only the hash of a link is stored.
import { listCardReveals } from '../../features/cards/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/listing.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

async function listReveals(system: System, args: CommandArgs): Promise<Output> {
  const { data: json } = await listCardReveals(system.runtime, {
    platformId: await platformIn(system, args),
    cardId: args.text('card'),
    limit: limitIn(args),
  });
  const heads = ['REQUESTED', 'CARD', 'TOKEN', 'OPENED'];
  const text = table(
    heads,
    json.map((each) => [each.requestedAt, each.cardId, each.tokenId, each.openedAt ?? '-']),
  );
  return { json, text };
}

export const cardRevealVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'reveals',
    summary: 'List requests to show card numbers, and when they were shown, newest first',
    flags: {
      card: { value: 'CARD', help: 'Filter by card (default: all)' },
      platform: { value: 'PLATFORM', help: 'Filter by platform (default: all)' },
      ...LIMIT,
    },
    positional: 'card',
    run: listReveals,
  },
];
