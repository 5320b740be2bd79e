// `cards list|show|close`: what the operator sees of cards, and how it ends one for good. Of a card's
// number nothing is shown but its end, which its platform sees as well.
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import {
  type CardRow,
  cardFundingOf,
  cards,
  closeCard,
  presentCard,
} from '../../features/cards/index.ts';
import { callerOf } from '../../features/tenancy/platform/index.ts';
import { isId } from '../../kernel/id.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import { equals } from '../../runtime/db/database.ts';
import { cursorOf } from '../../runtime/db/paging.ts';
import { operate } from '../../runtime/operation/operate.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { record, table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

async function cardOf({ runtime }: System, id: string): Promise<CardRow> {
  const row = isId(id, 'Card') ? await runtime.db.read(cards, id) : undefined;
  if (!row) throw notFound('card');
  return row;
}

const lineOf = (row: CardRow) => ({
  cardId: row.id,
  platformId: row.platform_id,
  customerId: row.customer_id,
  platformCardId: row.platform_card_id,
  state: row.state,
  stateReason: row.state_reason,
  last4: row.last4,
  createdAt: iso(row.created_at),
});

async function list(system: System, given: Given): Promise<Output> {
  const named = given.text('platform');
  const wanted = {
    platform_id: named === undefined ? undefined : (await platformOf(system, named)).id,
    customer_id: given.text('customer'),
    state: given.text('state'),
  };
  const filters = equals(wanted);
  const after = given.text('after');
  const cursor = after === undefined ? undefined : cursorOf(await cardOf(system, after));
  const choice = { filters, sort: 'desc', limit: limitIn(given), cursor } as const;
  const json = (await system.runtime.db.page(cards, choice)).rows.map(lineOf);
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

function mostOf({ max_spend: most, currency }: CardRow): string {
  if (most === null) return 'any';
  return `${readable(most, findCurrency(currency)?.decimals ?? 0)} ${currency}`;
}

async function shown({ runtime }: System, row: CardRow): Promise<Output> {
  const bindings = await cardFundingOf(runtime.db, row.id);
  const view = presentCard(row);
  const json = { ...view, platformId: row.platform_id, note: row.closed_note, bindings };
  const text = record([
    ['Card', row.id],
    ['Platform', row.platform_id],
    ['Customer', row.customer_id],
    ['Platform calls it', row.platform_card_id],
    ['State', row.state],
    ['Closed because', row.state_reason ?? '-'],
    ['Note', row.closed_note ?? '-'],
    ['Number', row.last4 === null ? '-' : `ends in ${row.last4}`],
    ['Issuer calls it', row.issuer_ref ?? '-'],
    ['Most of one payment', mostOf(row)],
    ...bindings.map(
      (each) => [each.endedAt ? `Paid until ${each.endedAt}` : 'Pays', each.accountId] as const,
    ),
    ['Created', view.createdAt],
    ['Changed', view.updatedAt],
  ]);
  return { json, text };
}

const MOST_OF_A_REASON = 255;

async function close(system: System, given: Given): Promise<Output> {
  const reason = given.needed('reason');
  if (reason.length > MOST_OF_A_REASON) {
    throw usageError(`--reason must have at most ${MOST_OF_A_REASON} characters`);
  }
  const { id, platform_id } = await cardOf(system, given.needed('card'));
  const caller = await callerOf(system.runtime.db, platform_id);
  const closed = await operate(system.runtime, caller, async (ctx) => {
    const row = await cardOf(system, id);
    if (row.state === 'CLOSED') throw new Error('The card is closed already.');
    return closeCard(ctx, row, 'CLOSED_BY_SERVICE', reason);
  });
  return shown(system, closed);
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
    run: async (system, given) => shown(system, await cardOf(system, given.needed('card'))),
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
