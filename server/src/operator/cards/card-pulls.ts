// `cards pulls|end-pull`: money that an issuer is still taking for payments with cards, for whoever has to
// find out why a payment does not come to rest. It stays set aside as long as the issuer gives no final
// answer, and keeps its account and its customer from being closed; where none ever comes, a person who has
// found out says how it ended. Nothing of a transaction that changes is indexed, so it is found by the job
// that asks.

import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { endPullByHand, PULL } from '../../features/cards/index.ts';
import { onAnyTransaction } from '../../features/payments/manual/index.ts';
import {
  asCardPayment,
  type CardPaymentRow,
  transactionAt,
} from '../../features/payments/transactions/index.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import { type Given, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

// A job outlives for a while what a person has ended. Each counts how often those before it have asked.
const UNDER_WAY = `with asking as materialized (
    select input ->> 'transactionId' as id, (input ->> 'at')::int4 as at,
      (input ->> 'since')::float8 as since,
      attempts + coalesce((input ->> 'tries')::int4, 0) as tries
    from jobs where kind = $1)
  select a.id, a.at, a.since, a.tries, p.environment
  from asking a join transactions t on t.id = a.id join platforms p on p.id = t.platform_id
  where t.card_pull_statuses[a.at + 1] = 'PENDING' and ($2::text is null or p.id = $2)
  order by a.since, a.id, a.at limit $3`;

interface Asking {
  id: string;
  at: number;
  since: number;
  tries: number;
  environment: string;
}

const amountOf = (amount: bigint, currency: string) => ({
  amount: Number(amount),
  readable: readable(amount, findCurrency(currency)?.decimals ?? 0),
  currency,
});

function view({ id, at, since, tries, environment }: Asking, row: CardPaymentRow) {
  const { card } = row;
  return {
    transactionId: id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    environment,
    pull: at + 1,
    since: iso(since),
    /** How often the issuer was asked. */
    tries,
    status: row.status,
    cardId: card.cardId,
    accountId: row.source_account,
    merchant: card.merchant.descriptor,
    ...amountOf(row.card_pulls[at] ?? 0n, card.currency),
  };
}

const HEADS = ['SINCE', 'TRANSACTION', 'STATUS', 'PULL', 'AMOUNT', 'TRIES', 'MERCHANT'];
const NUMBERS = ['PULL', 'AMOUNT', 'TRIES'];

async function list(system: System, given: Given): Promise<Output> {
  const { db } = system.runtime;
  const limit = limitIn(given);
  const platform = given.text('platform');
  const of = platform === undefined ? null : (await platformOf(system, platform)).id;
  const asking = await db.query<Asking>(UNDER_WAY, [PULL.kind, of, limit]);
  const json = await Promise.all(
    asking.map(async (each) => view(each, asCardPayment(await transactionAt(db, each.id)))),
  );
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

function pullIn(given: Given): number | undefined {
  const text = given.text('pull');
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError('--pull must be the number of a pull, from 1');
}

async function end(system: System, given: Given): Promise<Output> {
  const id = given.needed('transaction');
  const pull = pullIn(given);
  const said = { pull, taken: given.needed('as') === 'taken', reason: given.needed('reason') };
  const { row, at } = await onAnyTransaction(system.runtime, id, (ctx, found) => {
    if (found.type !== 'CARD') throw notFound('payment with a card');
    return endPullByHand(ctx, found, said);
  });
  const status = row.card_pull_statuses[at];
  const of = amountOf(row.card_pulls[at] ?? 0n, row.card.currency);
  const json = {
    ...{ transactionId: id, status: row.status, pull: at + 1, pullStatus: status },
    ...of,
    reason: said.reason,
  };
  const what = `${of.readable} ${of.currency}`;
  const text = `Pull ${at + 1} of ${id}, ${what}, is ${status}; the payment is ${row.status}.\n`;
  return { json, text };
}

export const cardPullVerbs: readonly Verb[] = [
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
