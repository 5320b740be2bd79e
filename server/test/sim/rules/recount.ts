// A check of all tables without the change log. It finds changes that bypassed the triggers of the
// log. The cost grows with the database, so it runs at intervals.
import type pg from 'pg';
import type { Model } from '../model/model.ts';
import { recountSettlement } from './card-rules.ts';
import { checkAll } from './invariants.ts';
import type { DeliveredIds } from './rules.ts';

type Row = Record<string, string | null>;

const BALANCES = `with effects as (
    select debit as id, case when phase in ('posted', 'post') then -amount else 0 end as balance,
      case phase when 'pending' then amount when 'post' then -amount when 'void' then -amount
        else 0 end as held from ledger_transfers
    union all
    select credit, case when phase in ('posted', 'post') then amount else 0 end, 0
      from ledger_transfers),
  sums as (select id, sum(balance) as balance, sum(held) as held from effects group by id)
  select a.id, a.balance::text, a.held::text, a.floor::text,
    coalesce(s.balance, 0)::text as transferred, coalesce(s.held, 0)::text as transferred_held
  from ledger_accounts a left join sums s on s.id = a.id`;

const TRANSFERS = `select transaction_id, count(*)::text as n from ledger_transfers
  where transaction_id not like 'Card:%' and transaction_id not like 'Stablecoin%' group by 1`;
const STATES = "select id, status, funds, refund->>'status' as refund from transactions";
const TRANSFERS_WITHOUT_OWNER = `select t.transaction_id, t.step from ledger_transfers t
  left join transactions p on p.id = t.transaction_id
  left join cards c on c.id = t.transaction_id
  left join stablecoins s on s.id = t.transaction_id
  left join stablecoin_operations o on o.id = t.transaction_id
  where coalesce(p.id, c.id, s.id, o.id) is null`;
const JOBS = 'select id from jobs';
const QUEUED_EVENTS = 'select event_id as id from webhook_queue';
const UNDELIVERED_EVENTS = `select event_id as id from webhook_attempts
  except select event_id from webhook_queue
  except select event_id from webhook_attempts where result in ('delivered', 'dropped')`;
const COUNTS = `select 'events' as name, count(*)::text as n from events
  union all select 'webhook_attempts', count(*)::text from webhook_attempts
  union all select 'quotes', count(*)::text from quotes
  union all select 'ledger_transfers', count(*)::text from ledger_transfers
  union all select 'wallet_authorizations', count(*)::text from wallet_authorizations
  union all select 'card_messages', count(*)::text from card_messages
  union all select 'cards', count(*)::text from cards
  union all select 'stablecoin_operations', count(*)::text from stablecoin_operations
  union all select 'transactions', count(*)::text from transactions`;

function* compareIds(name: string, databaseIds: Iterable<string>, modelIds: Iterable<string>) {
  const [idsInDatabase, idsInModel] = [new Set(databaseIds), new Set(modelIds)];
  for (const id of idsInDatabase)
    if (!idsInModel.has(id)) yield `${name} ${id} was inserted without a recorded change`;
  for (const id of idsInModel)
    if (!idsInDatabase.has(id)) yield `${name} ${id} was deleted without a recorded change`;
}

function* balanceProblems(rows: readonly Row[], model: Model) {
  for (const { id, balance, held, floor, transferred, transferred_held } of rows) {
    if (balance !== transferred || held !== transferred_held) {
      yield `${id} has ${balance}, ${held}; its transfers sum to ${transferred}, ${transferred_held}`;
    }
    const isBelowFloor = floor !== null && BigInt(balance!) - BigInt(held!) < BigInt(floor!);
    if (isBelowFloor || BigInt(held!) < 0n) yield `${id} is below its floor`;
    const modelAccount = model.accounts.get(id!);
    if (String(modelAccount?.balance) !== balance || String(modelAccount?.held) !== held) {
      const modelText = `${modelAccount?.balance}, ${modelAccount?.held}`;
      yield `${id} has ${balance}, ${held}; the model has ${modelText}`;
    }
  }
}

function* paymentProblems(rows: readonly Row[], transfers: readonly Row[], model: Model) {
  for (const { id, status, funds } of rows) {
    const recordedRow = model.payments.get(id!)?.row;
    if (recordedRow?.status !== status || recordedRow?.funds !== funds) {
      yield `${id} is ${status}, ${funds}; the model has ${recordedRow?.status}, ${recordedRow?.funds}`;
    }
  }
  for (const { transaction_id: id, n } of transfers) {
    const knownTransferCount = model.payments.get(id!)?.transfers.length;
    if (String(knownTransferCount) !== n)
      yield `${id} has ${n} transfers, the model has ${knownTransferCount}`;
  }
}

/** All problems found by reading the whole database. */
export async function recount(
  client: pg.Client,
  model: Model,
  deliveredIds: DeliveredIds,
): Promise<string[]> {
  const select = async (text: string) => (await client.query<Row>(text)).rows;
  const problems = checkAll(model, deliveredIds);
  problems.push(...balanceProblems(await select(BALANCES), model));
  problems.push(...paymentProblems(await select(STATES), await select(TRANSFERS), model));
  problems.push(...recountSettlement(model));
  for (const { transaction_id, step } of await select(TRANSFERS_WITHOUT_OWNER)) {
    problems.push(`${transaction_id} ${step} belongs to no transaction`);
  }
  const selectIds = async (text: string) => (await select(text)).map((row) => row.id as string);
  problems.push(...compareIds('job', await selectIds(JOBS), model.jobs.keys()));
  problems.push(...compareIds('event', await selectIds(QUEUED_EVENTS), model.webhookQueue.keys()));
  for (const id of await selectIds(UNDELIVERED_EVENTS))
    problems.push(`${id} is not due and was never delivered`);
  for (const { name, n } of await select(COUNTS)) {
    const recordedCount = model.counts.get(name as string) ?? 0;
    if (String(recordedCount) !== n)
      problems.push(`${n} ${name} exist, the model has ${recordedCount}`);
  }
  return problems.map((problem) => `recount: ${problem}`);
}
