// `ledger verify` and `ledger postings`: the proof that the books are what their transfers say. Balances
// are recomputed from the first transfer on, in one statement and so at one moment, which makes the answer
// right beside a server that is moving money. Holds are counted a second way, as pending transfers that
// nothing has resolved, so that a mistake in the arithmetic of holds cannot hide itself. What circulates of
// stablecoins is counted from their mints and burns too; it is no money of ours, and in no total.

import { findCurrency } from '../../catalog/currencies/currencies.ts';
import { readTransaction } from '../../features/payments/transactions/index.ts';
import { supplyProblems, unitOf } from '../../features/stablecoins/index.ts';
import { readable } from '../../kernel/money.ts';
import { iso, type Time } from '../../kernel/world.ts';
import type { Given } from '../cli/flags.ts';
import { table } from '../cli/table.ts';
import { notFound, type Output, type System, type Verb } from '../cli/verb.ts';

// A resolving transfer (post, release) is stored under the step of its pending one with `!` behind it.
const VERIFY = `with legs as (
    select debit as account, currency,
      case when phase in ('posted', 'post') then -amount else 0 end as net
    from ledger_transfers
    union all
    select credit, currency, case when phase in ('posted', 'post') then amount else 0 end
    from ledger_transfers
  ), moved as (
    select account, currency, sum(net) as net from legs group by account, currency
  ), holds as (
    select p.debit as account, p.currency, sum(p.amount) as held, count(*) as holds
    from ledger_transfers p
    where p.phase = 'pending' and not exists (
      select from ledger_transfers r where r.transaction_id = p.transaction_id
        and r.step = p.step || '!' and r.phase in ('post', 'release'))
    group by p.debit, p.currency
  ), compared as (
    select coalesce(a.id, m.account, h.account) as id,
      coalesce(a.currency, m.currency, h.currency) as currency, a.id is null as missing, a.floor,
      coalesce(a.balance, 0) as balance, coalesce(m.net, 0) as moved,
      coalesce(a.held, 0) as held, coalesce(h.held, 0) as unresolved,
      coalesce(h.holds, 0) as holds
    from ledger_accounts a
    full join moved m on m.account = a.id and m.currency = a.currency
    full join holds h on h.account = coalesce(a.id, m.account)
      and h.currency = coalesce(a.currency, m.currency)
  ), wrong as (
    select id, currency, missing, balance::text, moved::text, held::text, unresolved::text,
      coalesce(balance - held < floor, false) as "belowFloor"
    from compared
    where missing or balance <> moved or held <> unresolved or balance - held < floor
    order by id limit 100
  ), stray as (
    select r.transaction_id as "transactionId", r.step
    from ledger_transfers r left join ledger_transfers p
      on p.transaction_id = r.transaction_id and p.step || '!' = r.step and p.phase = 'pending'
      and p.debit = r.debit and p.credit = r.credit and p.currency = r.currency
      and p.amount = r.amount
    where r.phase in ('post', 'release') and p.step is null
    order by 1, 2 limit 100
  ), counted as (
    select currency, count(*)::text as transfers from ledger_transfers group by currency
  ), totals as (
    select currency, count(*)::text as accounts, sum(holds)::text as holds,
      sum(case when floor is not null then balance else 0 end)::text as owned,
      sum(case when floor is null then balance else 0 end)::text as house,
      sum(held)::text as held, sum(balance)::text as sum
    from compared group by currency having bool_or(balance <> 0 or held <> 0 or moved <> 0)
      or exists (select from counted where counted.currency = compared.currency)
  )
  select
    (select coalesce(json_agg(wrong), '[]') from wrong) as wrong,
    (select coalesce(json_agg(stray), '[]') from stray) as stray,
    (select coalesce(json_agg(t order by t.currency), '[]') from (
      select totals.*, coalesce(counted.transfers, '0') as transfers
      from totals left join counted using (currency)) t) as totals`;

interface Wrong {
  id: string;
  currency: string;
  missing: boolean;
  balance: string;
  moved: string;
  held: string;
  unresolved: string;
  belowFloor: boolean;
}

interface Total {
  currency: string;
  accounts: string;
  transfers: string;
  holds: string;
  owned: string;
  house: string;
  held: string;
  sum: string;
}

interface Verified {
  wrong: Wrong[];
  stray: { transactionId: string; step: string }[];
  totals: Total[];
}

/** Volume is counted in units of its own, with the decimals of the currency: `volume.USD`, `volume.count`. */
const shown = (amount: string | bigint, unit: string) =>
  readable(BigInt(amount), findCurrency(unit.replace('volume.', ''))?.decimals ?? 0);

function complaints({ wrong, stray, totals }: Verified): string[] {
  const accounts = wrong.flatMap((each) => {
    const { id, currency } = each;
    const amount = (text: string) => `${shown(text, currency)} ${currency}`;
    if (each.missing) return [`${id} has transfers in ${currency} and no account in it`];
    const lines: string[] = [];
    if (each.balance !== each.moved) {
      lines.push(
        `${id} says it has ${amount(each.balance)}, its transfers say ${amount(each.moved)}`,
      );
    }
    if (each.held !== each.unresolved) {
      lines.push(
        `${id} says ${amount(each.held)} are held, its pending transfers say ${amount(each.unresolved)}`,
      );
    }
    if (each.belowFloor) lines.push(`${id} is below its floor`);
    return lines;
  });
  const strays = stray.map(
    ({ transactionId, step }) => `${transactionId} ${step} resolves nothing that was pending`,
  );
  const sums = totals
    .filter((each) => each.sum !== '0')
    .map(({ currency, sum }) => `${currency} sums to ${shown(sum, currency)} and not to zero`);
  return [...accounts, ...strays, ...sums];
}

const TOTAL_COLUMNS = [
  { head: 'CURRENCY' },
  { head: 'ACCOUNTS', align: 'right' },
  { head: 'TRANSFERS', align: 'right' },
  { head: 'OWNED', align: 'right' },
  { head: 'HELD', align: 'right' },
  { head: 'OPEN HOLDS', align: 'right' },
  { head: 'HOUSE', align: 'right' },
  { head: 'SUM', align: 'right' },
] as const;

async function verify({ runtime }: System): Promise<Output> {
  const [found] = await runtime.db.query<Verified>(VERIFY);
  const verified = found as Verified;
  const coins = await supplyProblems((text) => runtime.db.query(text));
  const problems = [...complaints(verified), ...coins];
  const balanced = problems.length === 0;
  const totals = verified.totals.filter(({ currency }) => !currency.startsWith(unitOf('')));
  const currencies = totals.map(({ currency, ...total }) => ({
    currency,
    ...Object.fromEntries(Object.entries(total).map(([name, text]) => [name, Number(text)])),
  }));
  const rows = totals.map((each) => [
    each.currency,
    each.accounts,
    each.transfers,
    shown(each.owned, each.currency),
    shown(each.held, each.currency),
    each.holds,
    shown(each.house, each.currency),
    shown(each.sum, each.currency),
  ]);
  const verdict = balanced ? 'The books balance.' : 'THE BOOKS DO NOT BALANCE:';
  const lines = [verdict, ...problems.map((each) => `  ${each}`)];
  return {
    json: { balanced, currencies, problems },
    text: `${table(TOTAL_COLUMNS, rows)}\n${lines.join('\n')}\n`,
    failed: !balanced,
  };
}

interface Posting {
  step: string;
  phase: string;
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
  created_at: Time;
}

// Transfers are only ever appended, so rows of one moment lie in the order in which they were staged.
const POSTINGS = `select step, phase, debit, credit, currency, amount, created_at
  from ledger_transfers where transaction_id = $1
  order by created_at, phase <> 'pending', ctid`;

const MEANING: Record<string, string> = {
  posted: 'moved',
  pending: 'set aside',
  post: 'moved, was set aside',
  release: 'given back, was set aside',
};

async function postings({ runtime }: System, given: Given): Promise<Output> {
  const id = given.needed('transaction');
  const rows = await runtime.db.query<Posting>(POSTINGS, [id]);
  if (rows.length === 0 && !(await readTransaction(runtime.db, id))) {
    throw notFound('transaction');
  }
  const heads = ['TIME', 'STEP', 'FROM', 'TO', 'AMOUNT', 'CURRENCY', 'MEANING'];
  const text = table(
    heads.map((head) => ({ head, align: head === 'AMOUNT' ? 'right' : 'left' })),
    rows.map((row) => [
      iso(row.created_at),
      row.step,
      row.debit,
      row.credit,
      shown(row.amount, row.currency),
      row.currency,
      MEANING[row.phase] ?? row.phase,
    ]),
  );
  const json = rows.map(({ amount, created_at, ...row }) => ({
    ...row,
    amount: Number(amount),
    readable: `${shown(amount, row.currency)} ${row.currency}`,
    createdAt: iso(created_at),
  }));
  return { json: { transactionId: id, postings: json }, text };
}

export const ledgerVerbs: readonly Verb[] = [
  {
    noun: 'ledger',
    verb: 'verify',
    summary: 'Recompute every balance from the transfers; exit 1 when something is off',
    flags: {},
    run: verify,
  },
  {
    noun: 'ledger',
    verb: 'postings',
    summary: 'Show the transfers of a transaction',
    flags: {
      transaction: { value: 'TRANSACTION', required: true, help: 'Id of the transaction' },
    },
    bare: 'transaction',
    run: postings,
  },
];
