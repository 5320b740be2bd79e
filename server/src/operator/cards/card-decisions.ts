// `cards decisions`: what networks asked of cards and told about their payments, what was decided, and why.
// It is the only place that knows of declines, which leave no payment behind and tell nobody.
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { type CardMessageRow, cardMessages } from '../../features/cards/index.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import type { Filter } from '../../runtime/db/database.ts';
import type { Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

const view = (row: CardMessageRow) => ({
  at: iso(row.created_at),
  platformId: row.platform_id,
  cardId: row.card_id,
  kind: row.kind,
  amount: Number(row.amount),
  currency: row.currency,
  readable: readable(row.amount, findCurrency(row.currency)?.decimals ?? 0),
  merchant: row.merchant,
  approved: row.approved,
  reason: row.reason,
  transactionId: row.transaction_id,
});

async function filtersOf(system: System, given: Given): Promise<Filter<typeof cardMessages>[]> {
  const [platform, card] = [given.text('platform'), given.text('card')];
  const filters: Filter<typeof cardMessages>[] = [];
  if (platform !== undefined) {
    const { id } = await platformOf(system, platform);
    filters.push({ column: 'platform_id', op: '=', value: id });
  }
  if (card !== undefined) filters.push({ column: 'card_id', op: '=', value: card });
  if (given.on('declined')) filters.push({ column: 'approved', op: '=', value: false });
  return filters;
}

const HEADS = ['AT', 'CARD', 'KIND', 'AMOUNT', 'CURRENCY', 'MERCHANT', 'DECISION', 'TRANSACTION'];

async function list(system: System, given: Given): Promise<Output> {
  const filters = await filtersOf(system, given);
  const choice = { filters, sort: 'desc', limit: limitIn(given) } as const;
  const { rows } = await system.runtime.db.page(cardMessages, choice);
  const json = rows.map(view);
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
