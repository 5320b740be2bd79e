// `deposits list`: money that lies on an account and must not be spent until somebody decides, oldest first.
// Nothing of a transaction that changes is indexed, so it is found by the job that stands for as long as
// something is held (`incoming.held-long`); those that outlived the decision are passed over.
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { type TransactionRow, transactions } from '../../features/payments/lifecycle/index.ts';
import { HELD_LONG } from '../../features/payments/pay-ins/index.ts';
import { readable } from '../../kernel/money.ts';
import { iso } from '../../kernel/world.ts';
import type { Given } from '../cli/flags.ts';
import { LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

// A row that is held changes no more until it is released, so its last change is when the holding began.
const HELD = `select t.id from jobs j join transactions t on t.id = j.input ->> 'transactionId'
  where j.kind = $1 and t.funds = 'HELD' and t.pending_reason is not null
    and ($2::text is null or t.platform_id = $2)
  order by t.updated_at, t.id limit $3`;

function view(row: TransactionRow) {
  const currency = row.received_currency as string;
  const amount = row.received_amount as bigint;
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    customerId: row.customer_id,
    accountId: row.destination_account,
    since: iso(row.updated_at),
    reason: row.pending_reason as string,
    amount: Number(amount),
    currency,
    readable: readable(amount, findCurrency(currency)?.decimals ?? 0),
    source: row.source.sourceType,
  };
}

const HEADS = ['SINCE', 'TRANSACTION', 'REASON', 'AMOUNT', 'CURRENCY', 'ACCOUNT', 'FROM'];

async function list(system: System, given: Given): Promise<Output> {
  const { db } = system.runtime;
  const limit = limitIn(given);
  const platform = given.text('platform');
  const id = platform === undefined ? null : (await platformOf(system, platform)).id;
  const found = await db.query<{ id: string }>(HELD, [HELD_LONG.kind, id, limit]);
  const rows = await Promise.all(found.map((each) => db.read(transactions, each.id)));
  const json = rows.map((row) => view(row as TransactionRow));
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.reason,
      each.readable,
      each.currency,
      each.accountId ?? '',
      String(each.source),
    ]),
  );
  return { json, text };
}

export const heldList: Verb = {
  noun: 'deposits',
  verb: 'list',
  summary: 'List money that is held until somebody decides: deposits, pulls, UMA payments',
  flags: { platform: { value: 'PLATFORM', help: 'Of one platform (all)' }, ...LIMIT },
  run: list,
};
