// `cards reveals`: who asked to see the number of which card, and when somebody looked. A look that was
// asked for and never taken is listed too. Nothing here is a secret: of a link only its hash is kept.
import { listCardReveals } from '../../features/cards/index.ts';
import type { CommandArgs } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

async function reveals(system: System, args: CommandArgs): Promise<Output> {
  const json = await listCardReveals(system.runtime, {
    platformId: await platformIn(system, args),
    cardId: args.text('card'),
    limit: limitIn(args),
  });
  const heads = ['ASKED', 'CARD', 'TOKEN', 'OPENED'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [each.askedAt, each.cardId, each.tokenId, each.openedAt ?? '-']),
  );
  return { json, text };
}

export const cardRevealVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'reveals',
    summary: 'List who asked to see numbers of cards, and when they were seen, latest first',
    flags: {
      card: { value: 'CARD', help: 'Of one card (all)' },
      platform: { value: 'PLATFORM', help: 'Of all cards of one platform (all)' },
      ...LIMIT,
    },
    bare: 'card',
    run: reveals,
  },
];
