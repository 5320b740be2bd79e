// `cards exceptions|resolve`: payments with cards whose network has its money while we have not got ours, and
// what an operator decides about them, in the sandbox too. Money that came back for an account that is closed
// is listed with them, because it waits for a person as well; `parked return` says that it was sent.

import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { lossOf, netOf, resolveException, unpaidOf } from '../../features/cards/index.ts';
import { factsOf, pulledOf, settledOf } from '../../features/payments/card-payments/index.ts';
import { onAnyTransaction } from '../../features/payments/manual/index.ts';
import { inSuspense } from '../../features/payments/suspense/index.ts';
import {
  asCardPayment,
  type CardPaymentRow,
  cardAccountOf,
  transactionAt,
} from '../../features/payments/transactions/index.ts';
import { readable } from '../../kernel/money.ts';
import { iso, type Time } from '../../kernel/world.ts';
import { type Flags, type Given, usageError } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

const WAITING = `select w.id, min(w.since) as since, p.environment from (
    select id, platform_id, since from card_exceptions
    union all
    select id, platform_id, since from parked where id like 'CardTransaction:%') w
  join platforms p on p.id = w.platform_id
  where ($1::text is null or p.id = $1)
  group by w.id, p.environment order by min(w.since), w.id limit $2`;

interface Waiting {
  id: string;
  since: Time;
  environment: string;
}

function view({ id, since, environment }: Waiting, row: CardPaymentRow, suspense: bigint) {
  const { card, sent_currency: currency } = row;
  const facts = factsOf(row);
  return {
    transactionId: id,
    platformId: row.platform_id,
    environment,
    since: iso(since),
    status: row.status,
    cardId: card.cardId,
    accountId: cardAccountOf(row),
    merchant: card.merchant.descriptor,
    settledAmount: Number(settledOf(facts)),
    netAmount: Number(netOf(facts)),
    /** What the network has had, did not give back, and nobody has paid yet. */
    missingAmount: Number(row.status === 'EXCEPTION' ? unpaidOf(facts) : 0n),
    /** What is still set aside on the account. */
    heldAmount: Number(pulledOf(facts, 'STUCK')),
    currency: card.currency,
    suspense: { amount: Number(suspense), currency },
  };
}

type View = ReturnType<typeof view>;

const shown = (amount: number, currency: string | null) =>
  readable(BigInt(amount), findCurrency(currency ?? '')?.decimals ?? 0);

const HEADS = ['SINCE', 'TRANSACTION', 'STATUS', 'MISSING', 'HELD', 'PARKED', 'MERCHANT'];
const AMOUNTS = ['MISSING', 'HELD', 'PARKED'];

const cells = (each: View): string[] => [
  each.since,
  each.transactionId,
  each.status,
  shown(each.missingAmount, each.currency),
  shown(each.heldAmount, each.currency),
  shown(each.suspense.amount, each.suspense.currency),
  each.merchant,
];

async function list(system: System, given: Given): Promise<Output> {
  const { db } = system.runtime;
  const limit = limitIn(given);
  const platform = given.text('platform');
  const id = platform === undefined ? null : (await platformOf(system, platform)).id;
  const waiting = await db.query<Waiting>(WAITING, [id, limit]);
  const ids = waiting.map((each) => each.id);
  const nets = await inSuspense(db, ids);
  const json = await Promise.all(
    waiting.map(async (each) =>
      view(each, asCardPayment(await transactionAt(db, each.id)), nets.get(each.id) ?? 0n),
    ),
  );
  const text = table(
    HEADS.map((head) => ({ head, align: AMOUNTS.includes(head) ? 'right' : 'left' })),
    json.map(cells),
  );
  return { json, text };
}

const OUTCOMES = ['collect', 'write-off'] as const;

async function resolve(system: System, given: Given): Promise<Output> {
  const id = given.needed('transaction');
  const outcome = OUTCOMES.find((each) => each === given.text('outcome'));
  if (!outcome) throw usageError(`--outcome must be one of ${OUTCOMES.join(', ')}`);
  const reason = given.text('reason');
  const done = await onAnyTransaction(system.runtime, id, (ctx, row) => {
    if (row.type !== 'CARD') throw notFound('payment with a card');
    return resolveException(ctx, row, { outcome, reason });
  });
  const { status, card } = done;
  const lost = Number(lossOf(factsOf(done)));
  const json = { transactionId: id, status, lostAmount: lost, currency: card.currency };
  const text = `${id} is ${status}, ${shown(lost, card.currency)} ${card.currency} of it lost.\n`;
  return { json, text };
}

const DECIDED: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'Id of the transaction' },
  outcome: {
    value: 'OUTCOME',
    required: true,
    choices: OUTCOMES,
    help: 'Take what is missing from the account, into debt if need be, or bear it',
  },
  reason: { value: 'TEXT', help: 'Why, for those who look later' },
};

export const cardExceptionVerbs: readonly Verb[] = [
  {
    noun: 'cards',
    verb: 'exceptions',
    summary: 'List card payments that wait for a decision, oldest first',
    flags: { platform: { value: 'PLATFORM', help: 'Of one platform (all)' }, ...LIMIT },
    run: list,
  },
  {
    noun: 'cards',
    verb: 'resolve',
    summary: 'Say who pays for a card payment whose money could not be taken',
    flags: DECIDED,
    bare: 'transaction',
    run: resolve,
  },
];
