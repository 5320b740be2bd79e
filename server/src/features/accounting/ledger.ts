// Verification of the ledger, and the transfers of one transaction. Balances are recomputed from
// the first transfer in one statement, so the result is consistent while a server posts. Holds are
// recomputed independently, as pending transfers without a resolving transfer, to detect errors in
// the arithmetic of holds. The circulating supply of stablecoins is recomputed from mints and
// burns, separately from the totals.

import { formatAmount } from '../../catalog/currencies/money-format.ts';
import { iso } from '../../kernel/effects.ts';
import { Fault } from '../../kernel/fault.ts';
import { TOKEN_UNIT, VELOCITY_UNIT } from '../../ledger/chart.ts';
import { transfersOf } from '../../runtime/committer/ledger-reads.ts';
import type { Database } from '../../runtime/db/database.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { readTransaction } from '../payments/transactions/index.ts';
import { supplyProblems } from '../stablecoins/index.ts';
import { recordCheck } from './ledger-check-store.ts';

// A resolving transfer (post, void) is stored under the step of its pending transfer with the
// suffix `!`.
const VERIFY = `with legs as (
    select debit as account, currency,
      case when phase in ('posted', 'post') then -amount else 0 end as net
    from ledger_transfers
    union all
    select credit, currency, case when phase in ('posted', 'post') then amount else 0 end
    from ledger_transfers
  ), transferred as (
    select account, currency, sum(net) as net from legs group by account, currency
  ), holds as (
    select p.debit as account, p.currency, sum(p.amount) as held, count(*) as holds
    from ledger_transfers p
    where p.phase = 'pending' and not exists (
      select from ledger_transfers r where r.transaction_id = p.transaction_id
        and r.step = p.step || '!' and r.phase in ('post', 'void'))
    group by p.debit, p.currency
  ), compared as (
    select coalesce(a.id, m.account, h.account) as id,
      coalesce(a.currency, m.currency, h.currency) as currency, a.id is null as missing, a.floor,
      coalesce(a.balance, 0) as balance, coalesce(m.net, 0) as transferred,
      coalesce(a.held, 0) as held, coalesce(h.held, 0) as unresolved,
      coalesce(h.holds, 0) as holds
    from ledger_accounts a
    full join transferred m on m.account = a.id and m.currency = a.currency
    full join holds h on h.account = coalesce(a.id, m.account)
      and h.currency = coalesce(a.currency, m.currency)
  ), mismatches as (
    select id, currency, missing, balance::text, transferred::text, held::text, unresolved::text,
      coalesce(balance - held < floor, false) as "belowFloor"
    from compared
    where missing or balance <> transferred or held <> unresolved or balance - held < floor
    order by id limit 100
  ), unmatched as (
    select r.transaction_id as "transactionId", r.step
    from ledger_transfers r left join ledger_transfers p
      on p.transaction_id = r.transaction_id and p.step || '!' = r.step and p.phase = 'pending'
      and p.debit = r.debit and p.credit = r.credit and p.currency = r.currency
      and p.amount = r.amount
    where r.phase in ('post', 'void') and p.step is null
    order by 1, 2 limit 100
  ), counted as (
    select currency, count(*)::text as transfers from ledger_transfers group by currency
  ), totals as (
    select currency, count(*)::text as accounts, sum(holds)::text as holds,
      sum(case when floor is not null then balance else 0 end)::text as owned,
      sum(case when floor is null then balance else 0 end)::text as system,
      sum(held)::text as held, sum(balance)::text as sum
    from compared group by currency having bool_or(balance <> 0 or held <> 0 or transferred <> 0)
      or exists (select from counted where counted.currency = compared.currency)
  )
  select
    (select coalesce(json_agg(mismatches), '[]') from mismatches) as mismatches,
    (select coalesce(json_agg(unmatched), '[]') from unmatched) as "unmatchedResolutions",
    (select coalesce(json_agg(t order by t.currency), '[]') from (
      select totals.*, coalesce(counted.transfers, '0') as transfers
      from totals left join counted using (currency)) t) as totals`;

interface AccountMismatch {
  id: string;
  currency: string;
  missing: boolean;
  balance: string;
  transferred: string;
  held: string;
  unresolved: string;
  belowFloor: boolean;
}

/** Numbers are text, because a sum can exceed the range of a number. */
interface CountedTotal {
  currency: string;
  accounts: string;
  holds: string;
  owned: string;
  system: string;
  held: string;
  sum: string;
  transfers: string;
}

interface Recount {
  mismatches: AccountMismatch[];
  unmatchedResolutions: { transactionId: string; step: string }[];
  totals: CountedTotal[];
}

/**
 * Formats an amount in the unit of a ledger account. A velocity unit has the decimals of its
 * currency: `velocity.USD`.
 */
export const readableAmount = (amount: string | bigint, unit: string): string =>
  formatAmount({ currency: unit.replace(VELOCITY_UNIT, ''), amount: BigInt(amount) });

function problemsOf({ mismatches, unmatchedResolutions, totals }: Recount): string[] {
  const accountProblems = mismatches.flatMap((account) => {
    const { id, currency } = account;
    const amountText = (text: string) => `${readableAmount(text, currency)} ${currency}`;
    if (account.missing)
      return [`${id} has transfers in ${currency} but no account in this currency`];
    const problems: string[] = [];
    if (account.balance !== account.transferred) {
      problems.push(
        `${id} has a balance of ${amountText(account.balance)}, ` +
          `but its transfers sum to ${amountText(account.transferred)}`,
      );
    }
    if (account.held !== account.unresolved) {
      problems.push(
        `${id} holds ${amountText(account.held)}, ` +
          `but its pending transfers sum to ${amountText(account.unresolved)}`,
      );
    }
    if (account.belowFloor) problems.push(`${id} is below its minimum balance`);
    return problems;
  });
  const resolutionProblems = unmatchedResolutions.map(
    ({ transactionId, step }) => `${transactionId} ${step} resolves no pending transfer`,
  );
  const sumProblems = totals
    .filter((each) => each.sum !== '0')
    .map(
      ({ currency, sum }) => `${currency} sums to ${readableAmount(sum, currency)} instead of zero`,
    );
  return [...accountProblems, ...resolutionProblems, ...sumProblems];
}

/** Totals of a currency, in minor units. */
interface CurrencyTotal {
  currency: string;
  accounts: number;
  holds: number;
  /** Balances of accounts with a floor: internal accounts and velocity limits. */
  owned: bigint;
  /** Balances of accounts without a floor. */
  system: bigint;
  held: bigint;
  /** Zero if the books balance. */
  sum: bigint;
  transfers: number;
}

const totalOf = (total: CountedTotal): CurrencyTotal => ({
  currency: total.currency,
  accounts: Number(total.accounts),
  holds: Number(total.holds),
  owned: BigInt(total.owned),
  system: BigInt(total.system),
  held: BigInt(total.held),
  sum: BigInt(total.sum),
  transfers: Number(total.transfers),
});

/** A total with numbers, because JSON has no bigint. */
const toNumbers = (total: CurrencyTotal) => ({
  ...total,
  owned: Number(total.owned),
  system: Number(total.system),
  held: Number(total.held),
  sum: Number(total.sum),
});

/**
 * Recomputes every balance from the transfers. Returns totals by currency, problems as sentences,
 * and both as JSON.
 */
export async function recountLedger({ query }: Pick<Database, 'query'>) {
  const [row] = await query<Recount>(VERIFY);
  const recount = row as Recount;
  const supply = await supplyProblems((text) => query(text));
  const problems = [...problemsOf(recount), ...supply];
  const moneyTotals = recount.totals.filter(({ currency }) => !currency.startsWith(TOKEN_UNIT));
  const totals = moneyTotals.map(totalOf);
  const result = { balanced: problems.length === 0, problems };
  return { ...result, totals, json: { ...result, currencies: totals.map(toNumbers) } };
}

/** Verifies the ledger, and records the result for the metrics of all processes. */
export async function verifyLedger({ db, effects }: Pick<Runtime, 'db' | 'effects'>) {
  const startedAt = effects.now();
  const result = await recountLedger(db);
  const checkedAt = effects.now();
  await recordCheck(db, { checkedAt, balanced: result.balanced, ms: checkedAt - startedAt });
  return result;
}

/** The transfers of a transaction, in order. Throws TRANSACTION_NOT_FOUND. */
export async function listPostings({ db }: Runtime, transactionId: string) {
  const [rows, transaction] = await Promise.all([
    transfersOf(db, transactionId),
    readTransaction(db, transactionId),
  ]);
  if (rows.length === 0 && !transaction) {
    throw new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');
  }
  const postings = rows.map(({ amount, created_at, ...row }) => ({
    ...row,
    amount: Number(amount),
    readable: `${readableAmount(amount, row.currency)} ${row.currency}`,
    createdAt: iso(created_at),
  }));
  return { transactionId, platformId: transaction?.platform_id ?? null, postings };
}
