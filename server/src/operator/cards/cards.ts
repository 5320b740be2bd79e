// `cards list|show|close`: what the operator sees of cards, and how it ends one for good. Of a card's
// number nothing is shown but its end, which its platform sees as well.
import { formatMoney } from '../../catalog/currencies/money-format.ts';
import {
  type CardDetails,
  cardDetails,
  closeCardByHand,
  searchCards,
} from '../../features/cards/index.ts';
import { type CommandArgs, type Flags, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformIn } from '../platforms/platform.ts';

async function list(system: System, args: CommandArgs): Promise<Output> {
  const json = await searchCards(system.runtime, {
    platformId: await platformIn(system, args),
    customerId: args.text('customer'),
    state: args.text('state'),
    after: args.text('after'),
    limit: limitIn(args),
  });
  const heads = ['CREATED', 'CARD', 'CUSTOMER', 'STATE', 'REASON', 'LAST4'];
  const text = table(
    heads.map((head) => ({ head })),
    json.map((each) => [
      each.createdAt,
      each.cardId,
      each.customerId,
      each.state,
      each.stateReason ?? '-',
      each.last4 ?? '-',
    ]),
  );
  return { json, text };
}

function mostOf({ maxSpendPerTransaction: most, currency }: CardDetails): string {
  if (most === null) return 'any';
  return formatMoney({ currency, amount: BigInt(most) });
}

function shown(json: CardDetails): Output {
  const text = record([
    ['Card', json.id],
    ['Platform', json.platformId],
    ['Customer', json.cardholderId],
    ['Platform calls it', json.platformCardId],
    ['State', json.state],
    ['Closed because', json.stateReason ?? '-'],
    ['Note', json.note ?? '-'],
    ['Number', json.last4 === undefined ? '-' : `ends in ${json.last4}`],
    ['Issuer calls it', json.issuerRef ?? '-'],
    ['Most of one payment', mostOf(json)],
    ...json.bindings.map(
      (each) => [each.endedAt ? `Paid until ${each.endedAt}` : 'Pays', each.accountId] as const,
    ),
    ['Created', json.createdAt],
    ['Changed', json.updatedAt],
  ]);
  return { json, text };
}

const MAX_OF_A_REASON = 255;

async function close({ runtime }: System, args: CommandArgs): Promise<Output> {
  const reason = args.required('reason');
  if (reason.length > MAX_OF_A_REASON) {
    throw usageError(`--reason must have at most ${MAX_OF_A_REASON} characters`);
  }
  return shown(await closeCardByHand(runtime, { cardId: args.required('card'), reason }));
}

const CARD: Flags = { card: { value: 'CARD', required: true, help: 'Id of the card' } };

export const cardVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'list',
    summary: 'List cards, latest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      customer: { value: 'CUSTOMER', help: 'Of one cardholder (all)' },
      state: {
        value: 'STATE',
        choices: ['PROCESSING', 'ACTIVE', 'FROZEN', 'CLOSED'],
        help: 'In one state (all)',
      },
      ...LIMIT,
      after: { value: 'CARD', help: 'Go on behind this card, the last of a list before' },
    },
    run: list,
  },
  {
    noun: 'cards',
    verb: 'show',
    summary: 'Show a card and what pays for it',
    flags: CARD,
    bare: 'card',
    run: async ({ runtime }, args) => shown(await cardDetails(runtime, args.required('card'))),
  },
  {
    noun: 'cards',
    verb: 'close',
    summary: 'Close a card for good; what it has under way comes to its end',
    flags: {
      ...CARD,
      reason: { value: 'TEXT', required: true, help: 'Why; kept with the card, nothing personal' },
    },
    bare: 'card',
    run: close,
  },
];
