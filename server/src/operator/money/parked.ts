// `parked list|return|settle`: money in suspense, which can go neither on nor back until somebody decides.
// The list says whose it is and where it would go; the other verbs do what was decided, in the sandbox too,
// as a refund that failed there waits just as long. Nothing here has an amount to type: the ledger knows it.
import { findCurrency } from '../../catalog/currencies/currencies.ts';
import {
  coverMissing,
  inSuspense,
  parkedCurrency,
  parkedFrom,
  refundOf,
  returnParked,
  type TransactionRow,
  transactions,
} from '../../features/payments/lifecycle/index.ts';
import { isId } from '../../kernel/id.ts';
import { readable } from '../../kernel/money.ts';
import { iso, type Time } from '../../kernel/world.ts';
import type { Environment } from '../../runtime/operation/context.ts';
import type { Flags, Given } from '../cli/flags.ts';
import { onAnyTransaction } from '../cli/notice.ts';
import { inline, LIMIT, limitIn } from '../cli/queue.ts';
import { table } from '../cli/table.ts';
import type { Output, System, Verb } from '../cli/verb.ts';
import { platformOf } from '../platforms/platform.ts';

const WAITING = `select d.id, d.since, p.environment from parked d join platforms p on p.id = d.platform_id
  where ($1::text is null or p.id = $1) and ($2::text is null or p.environment = $2)
  order by d.since, d.id limit $3`;

interface Waiting {
  id: string;
  since: Time;
  environment: Environment;
}

/** Where the money would go: onto a balance, or outside, with what is known of who gets it there. */
async function wayOf({ runtime }: System, row: TransactionRow) {
  const account = await parkedFrom(runtime.db, row);
  if (account) return { to: account.id, outside: null };
  // It was paid from a balance that is closed by now: nothing says where its owner is.
  const inside = isId(row.source_account ?? '', 'InternalAccount') && row.type === 'OUTGOING';
  if (inside || row.type === 'CARD') {
    return { to: 'outside', outside: null };
  }
  const its = await refundOf(runtime, row);
  const { beneficiary: _, ...outside } = its.account;
  return { to: 'outside', outside: { beneficiaryName: its.beneficiaryName, ...outside } };
}

async function view(system: System, waiting: Waiting, row: TransactionRow, net: bigint) {
  const missing = net < 0n;
  const currency = parkedCurrency(row);
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    environment: waiting.environment,
    since: iso(waiting.since),
    type: row.type,
    status: row.status,
    failureReason: row.failure_reason,
    amount: Number(net),
    currency,
    readable: readable(net, findCurrency(currency)?.decimals ?? 0),
    // What is missing is to come from somewhere.
    ...(missing ? { to: null, outside: null } : await wayOf(system, row)),
  };
}

const HEADS = ['SINCE', 'TRANSACTION', 'ENVIRONMENT', 'AMOUNT', 'CURRENCY', 'REASON', 'TO'];

async function list(system: System, given: Given): Promise<Output> {
  const { db } = system.runtime;
  const limit = limitIn(given);
  const platform = given.text('platform');
  const id = platform === undefined ? null : (await platformOf(system, platform)).id;
  const waiting = await db.query<Waiting>(WAITING, [id, given.text('environment') ?? null, limit]);
  const ids = waiting.map((each) => each.id);
  const [nets, rows] = await Promise.all([
    inSuspense(db, ids),
    Promise.all(ids.map((each) => db.read(transactions, each))),
  ]);
  const json = await Promise.all(
    waiting.map((each, at) =>
      view(system, each, rows[at] as TransactionRow, nets.get(each.id) ?? 0n),
    ),
  );
  const text = table(
    HEADS.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    json.map((each) => [
      each.since,
      each.transactionId,
      each.environment,
      each.readable,
      each.currency,
      each.failureReason ?? each.status,
      each.outside ? `outside ${inline(each.outside)}` : (each.to ?? 'missing'),
    ]),
  );
  return { json, text };
}

/** Does what was decided, and says how it stands then. */
const decide =
  (work: typeof returnParked | typeof coverMissing): Verb['run'] =>
  async (system, given) => {
    const id = given.needed('transaction');
    const said = { reference: given.text('reference'), reason: given.text('reason') };
    await onAnyTransaction(system, id, async (ctx, row) => void (await work(ctx, row, said)));
    const row = (await system.runtime.db.read(transactions, id)) as TransactionRow;
    const [status, refund] = [row.status, row.refund?.status ?? null];
    const text = `${id} is ${status}${refund ? `, refund ${refund}` : ''}.\n`;
    return { json: { transactionId: id, status, refund, funds: row.funds }, text };
  };

const ID: Flags = {
  transaction: { value: 'TRANSACTION', required: true, help: 'Id of the transaction' },
};
const REASON: Flags = { reason: { value: 'TEXT', help: 'Why, for those who look later' } };

export const parkedVerbs: readonly Verb[] = [
  {
    noun: 'parked',
    verb: 'list',
    summary: 'List money that waits for a decision, and money that is missing, oldest first',
    flags: {
      platform: { value: 'PLATFORM', help: 'Of one platform (all)' },
      environment: {
        value: 'ENVIRONMENT',
        choices: ['sandbox', 'production'],
        help: 'Of one environment (both)',
      },
      ...LIMIT,
    },
    run: list,
  },
  {
    noun: 'parked',
    verb: 'return',
    summary: 'Give parked money back: onto its balance, or say that you have sent it outside',
    flags: {
      ...ID,
      reference: { value: 'REFERENCE', help: "The bank's own, of what you have sent outside" },
      ...REASON,
    },
    bare: 'transaction',
    run: decide(returnParked),
  },
  {
    noun: 'parked',
    verb: 'settle',
    summary: 'Say that money has come in for what was missing',
    flags: {
      ...ID,
      reference: {
        value: 'REFERENCE',
        required: true,
        help: "The bank's own, of the money that came in",
      },
      ...REASON,
    },
    bare: 'transaction',
    run: decide(coverMissing),
  },
];
