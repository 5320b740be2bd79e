// The end of a day. The bank sends all messages, every payment must have its state at the bank, and
// the statements are reconciled. Each open difference must have a fault as its cause, and each
// fault must be listed. A day without open differences must balance and can be closed.
import { providerAccount } from '../../../src/ledger/chart.ts';
import { DAY } from '../../kit/app/production.ts';
import { ledgerBalance } from '../../kit/providers/bank-account.ts';
import type { Chance } from '../harness/chance.ts';
import { REASON, type SimulatedBank, type TransferState } from './bank.ts';
import { type Bookkeeping, lineKey, missingKey } from './bookkeeping.ts';
import type { simulatedDeposits } from './deposits.ts';
import { BANK, type Installation } from './installation.ts';
import type { Outbox } from './outbox.ts';

/** Number of the latest payments that are compared. Earlier payments no longer change. */
const CHECKED_PAYMENTS = 150;
const HOUR = DAY / 24;
const PROVIDER_ACCOUNT = providerAccount('production', 'EUR', BANK);

/** Status, status of the refund and failure reason of a payment, by the state of its transfer. */
const EXPECTED_STATUSES: Record<TransferState, string> = {
  accepted: 'PROCESSING - -',
  settled: 'COMPLETED - -',
  failed: `FAILED COMPLETED ${REASON}`,
  returned: `FAILED COMPLETED ${REASON}`,
  reversed: 'FAILED COMPLETED PAYOUT_RETURNED',
};

const STATUSES_SQL = `select t.id, t.status, t.refund, t.failure_reason, p.provider_id
  from transactions t left join provider_transfers p on p.id = t.id where t.id = any($1)`;

interface Difference {
  differenceId: string;
  kind: string;
  day: string;
  lineId: string | null;
  amount: number;
  detail: string;
}

interface ProviderDay {
  day: string;
  status: string;
  ties: boolean;
  openDifferences: number;
}

export interface DayDeps {
  installation: Installation;
  chance: Chance;
  bank: SimulatedBank;
  bookkeeping: Bookkeeping;
  outbox: Outbox;
  deposits: ReturnType<typeof simulatedDeposits>;
  violations: string[];
  /** IDs of all payments. */
  payments: readonly string[];
}

/** The key of the expectation that explains a difference. */
function keyOf({ kind, day, lineId, amount }: Difference): string {
  if (kind === 'MISSING_AT_PROVIDER') return missingKey(amount);
  if (kind === 'BALANCE_DIFFERS') return lineKey(kind, day);
  if (kind === 'LATE_CORRECTION') return lineKey(kind, String(amount));
  // The key does not contain the version of the statement.
  return lineKey(kind, lineId?.replace(/@\d+$/, '') ?? '');
}

const parseRefund = (refund: unknown) =>
  (typeof refund === 'string' ? JSON.parse(refund) : refund) as { status: string } | null;

/**
 * Status of each payment in the format of `EXPECTED_STATUSES`, and the provider of its transfer.
 */
async function statusesOf({ app }: Installation, ids: readonly string[]) {
  const rows = await app.runtime.db.query<Record<string, string>>(STATUSES_SQL, [[...ids]]);
  return rows.map((row) => ({
    id: row.id ?? '',
    providerId: row.provider_id ?? null,
    text: `${row.status} ${parseRefund(row.refund)?.status ?? '-'} ${row.failure_reason ?? '-'}`,
  }));
}

/** Compares the payments with the transfers of the bank. Returns the problems. */
async function paymentProblems({ installation, bank, payments }: DayDeps): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, providerId, text } of await statusesOf(
    installation,
    payments.slice(-CHECKED_PAYMENTS),
  )) {
    const transfer = bank.transfers.get(id);
    if (transfer) {
      const expectedText = EXPECTED_STATUSES[transfer.state];
      if (text !== expectedText) problems.push(`${id} is ${text}, not ${expectedText}`);
    } else if (providerId !== null) {
      problems.push(`${id} was not sent`);
    } else if (text.startsWith('PROCESSING')) {
      // The bank was unavailable, so the built-in rail executes the payment.
      await installation.service.runJson('payouts', 'settle', id);
    } else if (text !== EXPECTED_STATUSES.settled)
      problems.push(`${id} is ${text} without the bank`);
  }
  return problems;
}

/** Advances the clock until all results are known, to at most 49 hours after midnight. */
async function settlePayments(deps: DayDeps): Promise<void> {
  const { app, advance } = deps.installation;
  const untilMidnight = DAY - (app.effects.now() % DAY);
  await advance(untilMidnight + 7 * HOUR);
  for (let round = 0; ; round++) {
    const problems = await paymentProblems(deps);
    if (problems.length === 0) return;
    if (round === 6) return void deps.violations.push(...problems);
    await advance(7 * HOUR);
  }
}

async function listOpenDays({ installation, bookkeeping }: DayDeps): Promise<ProviderDay[]> {
  const { data } = await installation.read(`/provider-days?providerId=${BANK}&limit=30`);
  const today = bookkeeping.account.today();
  return (data as ProviderDay[])
    .filter(({ status, day }) => status === 'OPEN' && day < today)
    .sort((a, b) => (a.day < b.day ? -1 : 1));
}

async function reconcileDays(deps: DayDeps): Promise<void> {
  const { installation } = deps;
  for (const { day } of await listOpenDays(deps)) {
    await installation.write('POST', `/providers/${BANK}/reconcile`, { currency: 'EUR', day });
  }
  await installation.app.settle();
}

async function listOpenDifferences({ installation }: DayDeps): Promise<Difference[]> {
  const differences: Difference[] = [];
  let cursor = '';
  for (;;) {
    const page = await installation.read(`/differences?limit=100${cursor}`);
    differences.push(...page.data);
    if (!page.nextCursor) return differences;
    cursor = `&cursor=${page.nextCursor}`;
  }
}

/** Every open difference is explained by a fault, and every fault of an ended day is listed. */
function compareDifferences(
  { bookkeeping, violations }: DayDeps,
  day: string,
  differences: readonly Difference[],
): void {
  const keys = new Set(differences.map(keyOf));
  for (const difference of differences) {
    if (!bookkeeping.expected.has(keyOf(difference)))
      violations.push(`an open difference without a fault: ${difference.detail}`);
  }
  for (const [key, { day: since, isOptional }] of bookkeeping.expected) {
    if (!isOptional && since <= day && !keys.has(key))
      violations.push(`a fault without a listed difference: ${key}`);
  }
}

/** Decides most of the differences. */
async function decide(deps: DayDeps, differences: readonly Difference[]): Promise<void> {
  const { installation, bookkeeping, chance } = deps;
  for (const difference of differences) {
    const expectation = bookkeeping.expected.get(keyOf(difference));
    if (!expectation) continue;
    if (difference.kind !== 'BALANCE_DIFFERS' && chance.percent(10)) continue;
    const decision = chance.pick(expectation.decisions());
    const path = `/differences/${difference.differenceId}/decide`;
    const input = { decision, reason: 'simulated', ...expectation.input };
    await installation.write('POST', path, input);
    if (decision !== 'CARRY') bookkeeping.expected.delete(keyOf(difference));
    expectation.onDecision?.(decision);
  }
}

/** Closes the days without open differences, and sometimes corrects one of these days. */
async function closeDays(deps: DayDeps): Promise<void> {
  const { installation, bookkeeping, chance, outbox, violations } = deps;
  for (const { day, ties, openDifferences: count } of await listOpenDays(deps)) {
    if (ties !== (count === 0)) violations.push(`${day} has ${count} differences, ties: ${ties}`);
    if (!ties) return;
    await installation.write('POST', `/providers/${BANK}/close-day`, { currency: 'EUR', day });
    if (!chance.percent(15) || !bookkeeping.correct(day)) continue;
    const { account } = bookkeeping;
    for (let page = 1; page <= account.page(day).pageCount; page++) {
      const fields = { type: 'statement.day', statement: account.page(day, page) };
      outbox.add(fields, { final: [200] });
    }
  }
}

/** Balances of the ledger equal the balances at the bank and the deposits. */
async function compareBalances(deps: DayDeps): Promise<void> {
  const { installation, bookkeeping, deposits, violations } = deps;
  const providerBalance = -(await ledgerBalance(installation.app, PROVIDER_ACCOUNT));
  const bankBalance = bookkeeping.account.balance();
  if (providerBalance !== bankBalance)
    violations.push(`the ledger has ${providerBalance}, not ${bankBalance}`);
  const creditedBalance = await installation.balance();
  if (creditedBalance !== deposits.total()) {
    violations.push(`the account has ${creditedBalance}, not ${deposits.total()}`);
  }
}

export async function endDay(deps: DayDeps): Promise<void> {
  const { bank, bookkeeping, outbox, chance, installation } = deps;
  const day = bookkeeping.account.today();
  installation.delayedCalls.length = 0;
  await bank.runCalmly(async () => {
    await outbox.deliverAll();
    if (chance.percent(10)) bookkeeping.shiftBalance();
    await settlePayments(deps);
    await reconcileDays(deps);
    const differences = await listOpenDifferences(deps);
    compareDifferences(deps, day, differences);
    await decide(deps, differences);
    await outbox.deliverAll();
    await reconcileDays(deps);
    await closeDays(deps);
    await outbox.deliverAll();
    await installation.app.settle();
    await compareBalances(deps);
    await paymentProblems(deps).then((problems) => deps.violations.push(...problems));
  });
  bookkeeping.startDay();
  installation.service.renewRates();
}
