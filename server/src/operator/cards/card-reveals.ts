// `cards reveals`: who asked to see the number of which card, and when somebody looked. A look that was
// asked for and never taken is listed too. Nothing here is a secret: of a link only its hash is kept.
import { type CardRevealRow, cardReveals, presentReveal } from '../../features/cards/index.ts';
import type { Filter } from '../../runtime/db/database.ts';
import type { Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

type RevealFilter = Filter<typeof cardReveals>;

async function reveals(system: System, given: Given): Promise<Output> {
  const platform = given.text('platform');
  const filters: RevealFilter[] = [];
  if (platform !== undefined) {
    const { id } = await platformOf(system, platform);
    filters.push({ column: 'platform_id', op: '=', value: id });
  }
  const card = given.text('card');
  if (card !== undefined) filters.push({ column: 'card_id', op: '=', value: card });
  const choice = { filters, sort: 'desc', limit: limitIn(given) } as const;
  const { rows } = await system.runtime.db.page(cardReveals, choice);
  const json = rows.map((row: CardRevealRow) => presentReveal(row));
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
