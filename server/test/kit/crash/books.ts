// Invariants of the database at any moment, with or without kills, checked on one consistent
// snapshot. The rules follow the specification of payments, independently of the server's code.
// Each rule finds a change set that was applied partly, twice or not at all.
import pg from 'pg';
import { unpackJson } from '../../../src/runtime/operation/stored-json.ts';

type Text = string | null;

interface Account {
  id: string;
  currency: string;
  balance: bigint;
  held: bigint;
  floor: bigint | null;
}

interface Transfer {
  transaction_id: string;
  step: string;
  phase: 'posted' | 'pending' | 'post' | 'void';
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
}

interface Payment {
  id: string;
  type: 'INCOMING' | 'OUTGOING';
  status: string;
  funds: string;
  source_account: Text;
  destination_account: string;
  sent_amount: bigint | null;
  sent_currency: Text;
  received_amount: bigint;
  received_currency: string;
  fees: bigint | null;
  platform_fees: bigint | null;
  platform_fee_account: Text;
  /** Owner of the source, and of the destination if it is internal. */
  customer_id: Text;
  target_owner: Text;
  quote_id: Text;
  remittance: Text;
  settled: boolean;
  refund: Text;
}

interface Event {
  id: string;
  type: string;
  subject: string;
  data: string;
  /** Data of the base event, or null if `data` is complete. */
  base: string | null;
  account: Text;
  balance: bigint | null;
  held: bigint | null;
  due: boolean;
  sealed: boolean;
  delivered: boolean;
}

/** Rows of one consistent snapshot. */
export interface BookSnapshot {
  accounts: Account[];
  transfers: Transfer[];
  payments: Payment[];
  quotes: { id: string; transaction_id: string; description: Text }[];
  events: Event[];
  jobs: { kind: string; transaction: Text }[];
  /** Stored replies by the client's key. Keys are unique in these tests. */
  replies: Map<string, { status: number; reply: string }>;
}

const QUERIES = {
  accounts: 'select id, currency, balance, held, floor from ledger_accounts',
  transfers: `select transaction_id, step, phase, debit, credit, currency, amount
    from ledger_transfers`,
  payments: `select id, type, status, funds, source_account, destination_account, sent_amount,
      sent_currency, received_amount, received_currency, fees, platform_fees, platform_fee_account,
      customer_id, quote_id, remittance, settled_at is not null as settled,
      refund->>'status' as refund, (select a.customer_id from internal_accounts a
        where a.id = destination_account) as target_owner
    from transactions order by id`,
  quotes: 'select id, transaction_id, description from quotes',
  events: `select id, type, subject, data, account, balance, held,
      (select b.data from events b where b.id = e.base_id) as base,
      exists (select from webhook_queue q where q.event_id = e.id) as due,
      sealed_for is not null as sealed,
      exists (select from webhook_attempts a
        where a.event_id = e.id and a.result = 'delivered') as delivered
    from events e order by id`,
  jobs: `select kind, input->>'transactionId' as transaction from jobs`,
  replies: `select substring(id from '[^ ]+$') as key, status, reply from idempotency`,
} as const;

const customTypes = {
  getTypeParser: (oid: number, format?: 'text') =>
    oid === 20 ? BigInt : pg.types.getTypeParser(oid, format),
};

/** Reads all rows in one transaction, so that a running server cannot change the result. */
export async function readSnapshot(url: string): Promise<BookSnapshot> {
  const client = new pg.Client({
    connectionString: url,
    types: customTypes as pg.CustomTypesConfig,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const rowsByTable: Record<string, unknown[]> = {};
    for (const [name, sql] of Object.entries(QUERIES))
      rowsByTable[name] = (await client.query(sql)).rows;
    const storedReplies = rowsByTable.replies as { key: string; status: number; reply: string }[];
    const replies = storedReplies.map((row) => ({ ...row, reply: unpackJson(row.reply) }));
    // QUERIES has a statement for each field.
    return {
      ...(rowsByTable as unknown as BookSnapshot),
      replies: new Map(replies.map((row) => [row.key, row])),
    };
  } finally {
    await client.end();
  }
}

/** Numbers of pending jobs and of queued deliveries. */
export async function countPending(url: string): Promise<{ jobs: number; events: number }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const sql = `select (select count(*)::int from jobs) as jobs,
      (select count(*)::int from webhook_queue) as events`;
    return (await client.query<{ jobs: number; events: number }>(sql)).rows[0]!;
  } finally {
    await client.end();
  }
}

/** Non-zero amounts by name. */
type Sums = Map<string, bigint>;

function add(sums: Sums, name: string | null, amount: bigint | null): void {
  if (name === null || !amount) return;
  const sum = (sums.get(name) ?? 0n) + amount;
  if (sum === 0n) sums.delete(name);
  else sums.set(name, sum);
}

const textOf = (sums: Sums) => [...sums].map(([name, sum]) => `${name} ${sum}`).sort();

const isEqual = (a: readonly unknown[], b: readonly unknown[]) =>
  a.length === b.length && a.every((value, index) => value === b[index]);

/** Applies a transfer. Holds are summed under the account's ID with a suffix. */
function apply(sums: Sums, { phase, debit, credit, amount }: Transfer): void {
  const changesBalance = phase === 'posted' || phase === 'post';
  if (changesBalance) add(sums, debit, -amount);
  if (changesBalance) add(sums, credit, amount);
  if (phase !== 'posted') add(sums, `${debit} held`, phase === 'pending' ? amount : -amount);
}

/**
 * Balances equal their transfers, currencies sum to zero, and no account is below its floor. Every
 * post or void resolves a hold.
 */
function bookProblems({ accounts, transfers }: BookSnapshot): string[] {
  const problems: string[] = [];
  const sums: Sums = new Map();
  for (const transfer of transfers) apply(sums, transfer);
  const currencies: Sums = new Map();
  for (const { id, currency, balance, held, floor } of accounts) {
    const sum = sums.get(id) ?? 0n;
    const heldSum = sums.get(`${id} held`) ?? 0n;
    if (balance !== sum) problems.push(`${id} has ${balance}, its transfers sum to ${sum}`);
    if (held !== heldSum) problems.push(`${id} holds ${held}, its transfers sum to ${heldSum}`);
    if (held < 0n || (floor !== null && balance - held < floor))
      problems.push(`${id} is below its floor`);
    add(currencies, currency, balance);
    sums.delete(id);
    sums.delete(`${id} held`);
  }
  for (const name of sums.keys()) problems.push(`${name} has transfers and no account`);
  for (const text of textOf(currencies)) problems.push(`${text} is not zero`);
  const steps = new Map(
    transfers.map((transfer) => [`${transfer.transaction_id} ${transfer.step}`, transfer]),
  );
  for (const { transaction_id, step, phase } of transfers) {
    if (phase !== 'post' && phase !== 'void') continue;
    const hold = steps.get(`${transaction_id} ${step.slice(0, -1)}`);
    if (hold?.phase !== 'pending') problems.push(`${transaction_id} ${step} resolves no hold`);
  }
  return problems;
}

const isInternal = (payment: Payment) => payment.destination_account.startsWith('InternalAccount:');

/** The expected sum of all transfers of an outgoing payment, by the state of its funds. */
function expectedEffect(payment: Payment): Sums {
  const expectedSums: Sums = new Map();
  const { funds, source_account: source, sent_currency: from, received_currency: to } = payment;
  const {
    sent_amount: sentAmount,
    received_amount: receivedAmount,
    fees,
    platform_fees: earnedFees,
  } = payment;
  const systemAccount = (purpose: string, currency: string | null) =>
    `system:sandbox:${purpose}:${currency}`;
  if (funds === 'HELD') add(expectedSums, `${source} held`, sentAmount);
  if (funds === 'SUSPENSE') {
    add(expectedSums, source, -sentAmount!);
    add(expectedSums, systemAccount('suspense', from), sentAmount);
  }
  if (funds !== 'SUBMITTED' && funds !== 'SETTLED') return expectedSums;
  add(expectedSums, source, -sentAmount!);
  add(expectedSums, payment.platform_fee_account, earnedFees);
  add(expectedSums, systemAccount('fees', from), fees! - earnedFees!);
  if (from !== to) {
    add(expectedSums, systemAccount('fx_position', from), sentAmount! - fees!);
    add(expectedSums, systemAccount('fx_position', to), -receivedAmount);
  }
  const systemDestination =
    funds === 'SUBMITTED'
      ? systemAccount('rail_in_transit', to)
      : systemAccount('external_settlement', to);
  add(
    expectedSums,
    isInternal(payment) ? payment.destination_account : systemDestination,
    receivedAmount,
  );
  return expectedSums;
}

/**
 * Returns the sums with the debt for a refunded platform fee on the fee account. The debt arises if
 * the platform had spent the fee.
 */
function attributeOwedFee(sums: Sums, payment: Payment): Sums {
  const debtAccount = `system:sandbox:receivable:${payment.sent_currency}`;
  const remainingSums = new Map(sums);
  const debt = remainingSums.get(debtAccount);
  if (debt === undefined || -debt !== payment.platform_fees) return remainingSums;
  add(remainingSums, debtAccount, -debt);
  add(remainingSums, payment.platform_fee_account, debt);
  return remainingSums;
}

const REFUND_EVENTS: Record<string, string> = {
  COMPLETED: 'REFUND_COMPLETED',
  FAILED: 'REFUND_FAILED',
};

/** Expected events of an outgoing payment, in order, or null for an invalid state. */
function expectedEvents(payment: Payment): string[] | null {
  const { status, funds, refund, settled } = payment;
  const startEvents = ['PENDING', 'PROCESSING'];
  const refundEvents = [
    'REFUND_PENDING',
    ...(refund && REFUND_EVENTS[refund] ? [REFUND_EVENTS[refund]] : []),
  ];
  const areFundsIn = (...states: string[]) => states.includes(funds);
  if (status === 'PENDING') return areFundsIn('NONE') ? [] : null;
  if (status === 'EXPIRED') return areFundsIn('NONE') ? ['EXPIRED'] : null;
  if (status === 'PROCESSING') {
    const processingEvents = refund ? [...startEvents, ...refundEvents] : startEvents;
    return areFundsIn('HELD', 'SUBMITTED') && refund !== 'COMPLETED' && !isInternal(payment)
      ? processingEvents
      : null;
  }
  if (status === 'COMPLETED' && !refund)
    return areFundsIn('SETTLED') ? [...startEvents, 'COMPLETED'] : null;
  if (status === 'COMPLETED') {
    return areFundsIn('RETURNED') ? [...startEvents, ...refundEvents, 'COMPLETED'] : null;
  }
  if (status !== 'FAILED' || !refund) return null;
  const fundsByRefund = {
    PENDING: ['HELD', 'SUBMITTED', 'SETTLED'],
    COMPLETED: ['RETURNED'],
    FAILED: ['SUSPENSE'],
  };
  if (!areFundsIn(...(fundsByRefund[refund as 'PENDING'] ?? []))) return null;
  return [...startEvents, ...(settled ? ['COMPLETED'] : []), 'FAILED', ...refundEvents];
}

/** Event types of each subject, in order, without balance events and test events. */
function eventsBySubject(events: readonly Event[]): Map<string, string[]> {
  const emittedEvents = new Map<string, string[]>();
  for (const { subject, type } of events) {
    if (type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED' || type === 'TEST') continue;
    emittedEvents.set(subject, [...(emittedEvents.get(subject) ?? []), type]);
  }
  return emittedEvents;
}

function outgoingProblems(
  payment: Payment,
  actualSums: Sums,
  emittedEvents: readonly string[],
): string[] {
  const name = `${payment.id} ${payment.status} ${payment.funds} refund ${payment.refund}`;
  const expectedTypes = expectedEvents(payment)?.map((type) => `OUTGOING_PAYMENT.${type}`);
  if (!expectedTypes) return [`${name} is in an invalid state`];
  const problems: string[] = [];
  if (!isEqual(emittedEvents, expectedTypes))
    problems.push(`${name} emitted ${emittedEvents.join(', ')}`);
  const expectedText = textOf(expectedEffect(payment));
  const actualText = textOf(actualSums);
  if (
    !isEqual(actualText, expectedText) &&
    !isEqual(textOf(attributeOwedFee(actualSums, payment)), expectedText)
  ) {
    problems.push(
      `${name} transferred [${actualText.join(', ')}], not [${expectedText.join(', ')}]`,
    );
  }
  return problems;
}

/** Incoming funds: a deposit, or the receiving side of a payment between two customers. */
function incomingProblems(
  payment: Payment,
  actualSums: Sums,
  emittedEvents: readonly string[],
  sender?: Payment,
) {
  const name = `${payment.id} ${payment.status} ${payment.funds}`;
  const problems: string[] = [];
  if (payment.status !== 'COMPLETED' || payment.funds !== 'SETTLED')
    problems.push(`${name} is not completed and settled`);
  if (!isEqual(emittedEvents, ['INCOMING_PAYMENT.COMPLETED']))
    problems.push(`${name} emitted ${emittedEvents.join(', ')}`);
  if (payment.quote_id !== null) {
    if (sender?.status !== 'COMPLETED' || actualSums.size > 0)
      problems.push(`${name} has no counterparty transaction`);
    return problems;
  }
  const expectedSums: Sums = new Map();
  add(expectedSums, payment.destination_account, payment.received_amount);
  add(
    expectedSums,
    `system:sandbox:rail_in_transit:${payment.received_currency}`,
    -payment.received_amount,
  );
  if (!isEqual(textOf(actualSums), textOf(expectedSums)))
    problems.push(`${name} transferred ${textOf(actualSums).join(', ')}`);
  return problems;
}

/** Every payment has exactly the transfers, events and counterparty that its state requires. */
function paymentProblems(snapshot: BookSnapshot): string[] {
  const sumsByTransaction = new Map<string, Sums>();
  for (const transfer of snapshot.transfers) {
    const sums = sumsByTransaction.get(transfer.transaction_id) ?? new Map();
    sumsByTransaction.set(transfer.transaction_id, sums);
    apply(sums, transfer);
  }
  const emittedEvents = eventsBySubject(snapshot.events);
  const senders = new Map<string, Payment>();
  const counterparties = new Map<string, number>();
  for (const payment of snapshot.payments) {
    if (payment.quote_id === null) continue;
    if (payment.type === 'OUTGOING') senders.set(payment.quote_id, payment);
    else counterparties.set(payment.quote_id, (counterparties.get(payment.quote_id) ?? 0) + 1);
  }
  const problems = snapshot.payments.flatMap((payment) => {
    const actualSums = sumsByTransaction.get(payment.id) ?? new Map();
    const emittedTypes = emittedEvents.get(payment.id) ?? [];
    if (payment.type === 'OUTGOING') return outgoingProblems(payment, actualSums, emittedTypes);
    return incomingProblems(payment, actualSums, emittedTypes, senders.get(payment.quote_id ?? ''));
  });
  for (const [quote, sender] of senders) {
    const isToOtherOwner = isInternal(sender) && sender.customer_id !== sender.target_owner;
    const expectedCount = sender.status === 'COMPLETED' && isToOtherOwner ? 1 : 0;
    const actualCount = counterparties.get(quote) ?? 0;
    if (actualCount !== expectedCount)
      problems.push(`${quote} has ${actualCount} counterparty transactions, not ${expectedCount}`);
  }
  const ids = new Set(snapshot.payments.map((payment) => payment.id));
  for (const id of sumsByTransaction.keys())
    if (!ids.has(id)) problems.push(`${id} has transfers and no payment`);
  return problems;
}

/** The step of a payment that a transfer belongs to: hold, settlement or return. */
function stepOf({ step, phase }: Transfer): string {
  if (phase === 'pending') return 'hold';
  return phase === 'void' || /^(refund|park)\b/.test(step) ? 'return' : 'settlement';
}

/** Number of balance events per account: one for each payment step that changed the account. */
function expectedBalanceEvents({ transfers }: BookSnapshot): Sums {
  const changedAccounts = new Set<string>();
  for (const transfer of transfers) {
    const { transaction_id, phase, debit, credit } = transfer;
    const changesBalance = phase === 'posted' || phase === 'post';
    for (const account of changesBalance ? [debit, credit] : [debit]) {
      if (!account.startsWith('InternalAccount:')) continue;
      changedAccounts.add(`${account} ${transaction_id} ${stepOf(transfer)}`);
    }
  }
  const expectedSums: Sums = new Map();
  for (const changedAccount of changedAccounts)
    add(expectedSums, changedAccount.split(' ', 1)[0] as string, 1n);
  return expectedSums;
}

/** Every event has its subject. No event is missing or duplicated. */
function eventProblems(snapshot: BookSnapshot): string[] {
  const subjects = new Set(
    [...snapshot.payments, ...snapshot.accounts].map((resource) => resource.id),
  );
  const problems: string[] = [];
  const emittedEvents: Sums = new Map();
  for (const { id, type, subject, account } of snapshot.events) {
    if (type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED') add(emittedEvents, account, 1n);
    if (/^(Transaction|InternalAccount):/.test(subject) && !subjects.has(subject)) {
      problems.push(`${id} ${type} is about ${subject}, which does not exist`);
    }
  }
  const expectedCounts = expectedBalanceEvents(snapshot);
  for (const id of new Set([...emittedEvents.keys(), ...expectedCounts.keys()])) {
    const [actualCount, expectedCount] = [emittedEvents.get(id), expectedCounts.get(id)];
    if (actualCount !== expectedCount)
      problems.push(`${id} emitted ${actualCount} balance events, not ${expectedCount}`);
  }
  return problems;
}

/** Every processing payment and every pending refund has a job. Every quote has its payment. */
function workProblems(snapshot: BookSnapshot): string[] {
  const transactionsWithJobs = new Set(snapshot.jobs.map((job) => job.transaction));
  const openPayments = snapshot.payments.filter(
    (payment) => payment.status === 'PROCESSING' || payment.refund === 'PENDING',
  );
  const unfinishedPayments = openPayments.filter(
    (payment) => !transactionsWithJobs.has(payment.id),
  );
  const paymentsById = new Map(snapshot.payments.map((payment) => [payment.id, payment]));
  const orphanQuotes = snapshot.quotes.filter(
    (quote) => paymentsById.get(quote.transaction_id)?.quote_id !== quote.id,
  );
  return [
    ...unfinishedPayments.map((payment) => `${payment.id} is ${payment.status} and has no job`),
    ...orphanQuotes.map((quote) => `${quote.id} has no payment`),
  ];
}

/** All violations. The expected list is empty. */
export const problemsOf = (snapshot: BookSnapshot): string[] => [
  ...bookProblems(snapshot),
  ...paymentProblems(snapshot),
  ...eventProblems(snapshot),
  ...workProblems(snapshot),
];
