// The operator of manual rails for production platforms. Waiting payouts are settled, failed,
// returned or canceled, in any order and twice. Deposits are recorded from a bank statement, held,
// released, rejected and returned. Predicted rejections follow from the state of the payment.

import { accountReference } from '../../../../src/catalog/accounts/account-reference.ts';
import { findCurrency } from '../../../../src/catalog/currencies/currencies.ts';
import { paymentReferenceOf } from '../../../../src/features/payments/suspense/reference.ts';
import { checkOutcome, runVerb } from '../../harness/operator.ts';
import {
  type InternalAccount,
  type Order,
  type Person,
  type Platform,
  type Sim,
  type StatementEntry,
  violation,
} from '../../harness/sim.ts';
import type { Payment, RecordedRow } from '../../model/model.ts';
import { awaitedOf } from '../../model/queue-and-limits.ts';
import {
  type Action,
  activePeople,
  PAYMENT_CURRENCIES,
  payers,
  pickInternalAccount,
} from '../action.ts';
import { createQuote, executeOrder, transferOut } from '../payments/payments.ts';
import {
  depositQuotes,
  expectIncoming,
  incomingOrders,
  quoteDebit,
  recordDeposit,
  recordUnmatched,
  transferIn,
} from './incoming.ts';

const isInProduction = ({ platform }: { platform: Platform }) =>
  platform.environment === 'production';

const productionOrders = (sim: Sim) => sim.orders.filter(isInProduction);

const paymentOf = (sim: Sim, { id }: Order): Payment => {
  const payment = sim.model.payments.get(id);
  if (!payment) throw violation(`${id} does not exist`);
  return payment;
};

const isExternalAccount = (id: string | null | undefined) =>
  id?.startsWith('ExternalAccount:') ?? false;

const VERB_FLAGS: Readonly<Record<string, (sim: Sim) => string[]>> = {
  settle: () => [],
  fail: (sim) => [
    ...['--reason', sim.chance.pick(['ACCOUNT_INVALID', 'COMPLIANCE_REJECTED'])],
    ...(sim.chance.percent(25) ? ['--not-refundable'] : []),
  ],
  return: () => ['--reason', 'PAYOUT_RETURNED'],
  cancel: () => [],
  'reject-cancel': () => [],
};

/** Whether the verb is valid in the current state of the payment. */
function isApplicable(sim: Sim, order: Order, verb: string): boolean {
  const payment = paymentOf(sim, order);
  const { row } = payment;
  if (verb === 'return') {
    const accountId = row.type === 'OUTGOING' ? row.destination_account : row.source_account;
    return isExternalAccount(accountId) && row.status === 'COMPLETED' && row.funds === 'SETTLED';
  }
  const awaitedResult = awaitedOf(sim.model, payment);
  if (verb === 'settle' || verb === 'fail') return awaitedResult !== undefined;
  return (
    awaitedResult !== undefined && awaitedResult !== 'refund' && row.cancel_requested_at !== null
  );
}

/** Chooses a payment, usually a waiting one. */
function choosePayment(sim: Sim): Order {
  const allOrders = productionOrders(sim);
  const waitingPayments = allOrders.filter((order) => awaitedOf(sim.model, paymentOf(sim, order)));
  return sim.chance.pick(
    waitingPayments.length && sim.chance.percent(85) ? waitingPayments : allOrders,
  );
}

const VERBS = [
  { name: 'settle', weight: 10 },
  { name: 'fail', weight: 4 },
  { name: 'return', weight: 3 },
  { name: 'cancel', weight: 2 },
  { name: 'reject-cancel', weight: 1 },
];

async function reportResult(sim: Sim): Promise<string> {
  const order = choosePayment(sim);
  const verb = sim.chance.pickWeighted(VERBS).name;
  const flags = VERB_FLAGS[verb]?.(sim) ?? [];
  const isAllowed = isApplicable(sim, order, verb);
  const description = `payouts ${verb} ${order.id}`;
  const rejection = checkOutcome(
    await runVerb(sim, 'payouts', verb, order.id, ...flags),
    isAllowed,
    description,
  );
  return `${verb}${rejection ? ': rejected' : ''}`;
}

/** Runs the same verb twice. The second run has no effect. */
async function reportTwice(sim: Sim): Promise<string> {
  const order = choosePayment(sim);
  const verb = sim.chance.pick(['settle', 'fail']);
  if (!isApplicable(sim, order, verb)) return 'not applicable';
  const command = ['payouts', verb, order.id, ...(VERB_FLAGS[verb]?.(sim) ?? [])];
  checkOutcome(await runVerb(sim, ...command), true, command.join(' '));
  checkOutcome(await runVerb(sim, ...command), false, `${command.join(' ')} again`);
  return verb;
}

/** A bank reverses a funding debit after the payment, and the payer is liable. */
async function returnDebit(sim: Sim): Promise<string> {
  const fittingOrders = productionOrders(sim).filter((order) => {
    const { row, transfers } = paymentOf(sim, order);
    const isSettled = row.status === 'COMPLETED' && row.funds === 'SETTLED';
    const isReturned = transfers.some(({ step }) => step.startsWith('return'));
    return (
      order.kind === 'debit' && isSettled && !isReturned && isExternalAccount(row.source_account)
    );
  });
  if (fittingOrders.length === 0) return 'none';
  const order = sim.chance.pick(fittingOrders);
  const command = ['payouts', 'return', order.id, '--of', 'debit', '--reason', 'PAYOUT_RETURNED'];
  checkOutcome(await runVerb(sim, ...command), true, command.join(' '));
  checkOutcome(await runVerb(sim, ...command), false, `${command.join(' ')} again`);
  const { currency, owner } = order.debitedAccount ?? {};
  const platformOwner = sim.people.find(
    (person) => person.id === null && person.platform === order.platform,
  );
  const openAccounts = [owner, platformOwner].flatMap(
    (person) => person?.internalAccounts.get(currency ?? '') ?? [],
  );
  const payer = openAccounts.find(
    (internalAccount) => sim.model.internal.get(internalAccount.id)?.status !== 'CLOSED',
  );
  if (payer) payer.expectedBalance -= order.sentAmount;
  return `${order.sentAmount}${payer ? '' : ' without payer'}`;
}

/** The queue lists exactly the waiting payments. */
async function listPayouts(sim: Sim): Promise<string> {
  const { json } = await runVerb(sim, 'payouts', 'list', '--limit', '1000');
  const listedResults = (json as { transactionId: string; kind: string }[]).map(
    ({ transactionId, kind }) => `${transactionId} ${kind}`,
  );
  const expectedResults = [...sim.model.awaitedResults.keys()].flatMap((id) => {
    const payment = sim.model.payments.get(id);
    const kind = payment && awaitedOf(sim.model, payment);
    return kind ? [`${id} ${kind}`] : [];
  });
  const [listedText, expectedText] = [listedResults.sort().join(), expectedResults.sort().join()];
  if (sim.model.awaitedResults.size < 1_000 && listedText !== expectedText) {
    throw violation(`the queue lists [${listedText}], not [${expectedText}]`);
  }
  return `${expectedResults.length} waiting`;
}

/** The amount in major units, such as 1234.56. */
function formatDecimal(amount: bigint, currency: string): string {
  const decimals = findCurrency(currency)?.decimals ?? 0;
  const digits = String(amount).padStart(decimals + 1, '0');
  const [wholeDigits, fraction] = [
    digits.slice(0, -decimals || undefined),
    digits.slice(-decimals),
  ];
  return decimals ? `${wholeDigits}.${fraction}` : wholeDigits;
}

/** Records a bank statement entry. */
async function recordEntry(
  sim: Sim,
  targetFlags: readonly string[],
  amount: bigint,
  currency: string,
) {
  const reference = `BANK-${sim.nextNumber()}`;
  const command = [
    'deposits',
    'record',
    ...targetFlags,
    '--currency',
    currency,
    '--reference',
    reference,
  ];
  const result = await runVerb(sim, ...command, '--amount', formatDecimal(amount, currency));
  if (result.rejection) throw violation(`${command.join(' ')}: ${result.rejection}`);
  if (result.json.recorded !== 'now')
    throw violation(`${reference}: recorded is ${result.json.recorded}, not now`);
  const { transactionId } = result.json as { transactionId: string };
  sim.entries.push({ args: command, amount, currency, transactionId });
  if (sim.entries.length > 40) sim.entries.shift();
  return { transactionId, status: result.json.status as string };
}

async function recordDepositEntry(sim: Sim): Promise<string> {
  const currencies = sim.chance.percent(70) ? ['USD', 'EUR'] : PAYMENT_CURRENCIES;
  const internalAccount = pickInternalAccount(
    sim,
    sim.chance.pick(activePeople(sim).filter(isInProduction)),
    currencies,
  );
  const amount = BigInt(sim.chance.integerBetween(1, sim.chance.pick([500, 100_000, 1_000_000])));
  const targetFlags = sim.chance.percent(50)
    ? ['--account', internalAccount.id]
    : ['--payment-reference', accountReference(internalAccount.id)];
  const { transactionId, status } = await recordEntry(
    sim,
    targetFlags,
    amount,
    internalAccount.currency,
  );
  expectIncoming(sim, internalAccount, transactionId, amount, null);
  return `${amount} ${internalAccount.currency}, ${status}`;
}

/** A deposit for a quote, with the requested amount or another one, in time or late. */
async function recordQuoteDeposit(sim: Sim): Promise<string> {
  const order = sim.chance.pick(depositQuotes(sim).filter(isInProduction));
  const row = sim.model.payments.get(order.id)?.row as RecordedRow;
  const amount = order.sentAmount + sim.chance.pick([0n, 0n, 0n, 5n]);
  const targetFlags = ['--payment-reference', paymentReferenceOf(order.id)];
  recordDeposit(sim, order);
  const currency = row.sent_currency as string;
  const createdEntry = await recordEntry(sim, targetFlags, amount, currency);
  if (createdEntry.transactionId !== order.id) {
    const recordedRow = await readUnmatchedDeposit(sim, createdEntry.transactionId);
    return recordUnmatched(sim, recordedRow, amount);
  }
  if (order.isStarted) throw violation(`${order.id} was paid twice`);
  order.isStarted = true;
  order.expectedOutcome = null;
  return `${amount} of ${order.sentAmount}`;
}

/** A deposit that does not match its quote, in the format of the API. */
async function readUnmatchedDeposit(sim: Sim, id: string) {
  const { client } = sim;
  const text = 'select destination_account as "accountId", status from transactions where id = $1';
  const { rows } = await client.query<{ accountId: string; status: string }>(text, [id]);
  const [{ accountId, status } = { accountId: '', status: '' }] = rows;
  return { id, status, destination: { accountId } };
}

/** Records an entry again. An equal entry is ignored, and a different one is rejected. */
async function recordEntryAgain(sim: Sim): Promise<string> {
  const {
    args: command,
    amount,
    currency,
    transactionId,
  } = sim.chance.pick(sim.entries) as StatementEntry;
  const isSameEntry = sim.chance.percent(70);
  const reportedAmount = formatDecimal(isSameEntry ? amount : amount + 1n, currency);
  const result = await runVerb(sim, ...command, '--amount', reportedAmount);
  const rejection = checkOutcome(result, isSameEntry, command.join(' '));
  const isRecorded =
    result.json?.recorded === 'before' && result.json.transactionId === transactionId;
  if (isSameEntry && !isRecorded)
    throw violation(`${command.join(' ')} is no duplicate: ${JSON.stringify(result)}`);
  return rejection ? 'rejected' : 'duplicate';
}

/** A decision about a deposit: release, return or bank reversal. */
async function decideDeposit(sim: Sim): Promise<string> {
  const order = sim.chance.pick(incomingOrders(sim).filter(isInProduction));
  const verb = sim.chance.pick(['release', 'reject', 'return']);
  const { row } = paymentOf(sim, order);
  const isToInternalAccount = row.destination_account?.startsWith('InternalAccount:');
  const isHeld = row.status === 'PENDING' && row.funds === 'HELD' && isToInternalAccount;
  const isSettled = row.status === 'COMPLETED' && row.funds === 'SETTLED';
  const isDeposit = row.source_account === null;
  const isAllowed = isDeposit && (isHeld || (verb === 'return' && isSettled));
  const command = ['deposits', verb, order.id];
  const rejection = checkOutcome(
    await runVerb(sim, ...command),
    isAllowed === true,
    command.join(' '),
  );
  return `${verb}${rejection ? ': rejected' : ''}`;
}

const ACCOUNT_VERBS = ['close', 'fail', 'retry'];

/** Accounts opened by jobs are known from the change log alone. */
function recordOpenedAccounts(sim: Sim): void {
  const knownIds = new Set(
    sim.people.flatMap((person) => [...person.internalAccounts.values()].map(({ id }) => id)),
  );
  for (const { id, customer_id, platform_id, currency, type } of sim.model.internal.values()) {
    if (type === 'EMBEDDED_WALLET') continue;
    if (knownIds.has(id as string)) continue;
    const owner = sim.people.find(
      (person) => person.id === customer_id && person.platform.id === platform_id,
    );
    if (!owner || owner.internalAccounts.has(currency as string)) continue;
    const internalAccount: InternalAccount = {
      id: id as string,
      currency: currency as string,
      owner,
      expectedBalance: 0n,
    };
    owner.internalAccounts.set(internalAccount.currency, internalAccount);
  }
}

/** Whether the account has no balance and no held funds, and its owner no debt. */
function isEmpty(sim: Sim, internalAccount: InternalAccount): boolean {
  const { balance = 0n, held = 0n } = sim.model.accounts.get(internalAccount.id) ?? {};
  return balance === 0n && held === 0n && sim.model.internal.get(internalAccount.id)?.owed === '0';
}

async function changeAccount(sim: Sim): Promise<string> {
  recordOpenedAccounts(sim);
  const verb = sim.chance.pick(ACCOUNT_VERBS);
  const allAccounts = activePeople(sim).flatMap((person) => [...person.internalAccounts.values()]);
  const unopenedAccounts = allAccounts.filter((internalAccount) =>
    ['PENDING', 'FAILED'].includes(sim.model.internal.get(internalAccount.id)?.status ?? ''),
  );
  const rareAccounts = allAccounts.filter(
    (internalAccount) => !PAYMENT_CURRENCIES.includes(internalAccount.currency),
  );
  const internalAccount = sim.chance.pick(
    verb === 'close' && sim.chance.percent(70)
      ? rareAccounts
      : unopenedAccounts.length
        ? unopenedAccounts
        : allAccounts,
  );
  const statusBefore = sim.model.internal.get(internalAccount.id)?.status ?? '';
  const result = await runVerb(sim, 'accounts', verb, internalAccount.id, '--reason', 'simulated');
  const allowedStatuses =
    { close: ['ACTIVE', 'FROZEN'], fail: ['PENDING'], retry: ['FAILED'] }[verb] ?? [];
  const isAllowed = allowedStatuses.includes(statusBefore);
  const isCertain = isAllowed && verb !== 'close';
  if (verb === 'close' && isAllowed && !result.rejection && !isEmpty(sim, internalAccount)) {
    throw violation(`${internalAccount.id} was closed with funds`);
  }
  if (!isAllowed || isCertain)
    checkOutcome(result, isAllowed, `accounts ${verb} ${internalAccount.id}`);
  if (!result.rejection)
    for (const order of sim.orders) clearExpectedOutcome(order, internalAccount);
  return `${verb}${result.rejection ? ': rejected' : ` ${internalAccount.currency}`}`;
}

/** The outcome of a payment whose account is closed depends on its progress. */
function clearExpectedOutcome(order: Order, internalAccount: InternalAccount): void {
  const isAffected =
    order.internalAccount === internalAccount || order.feeAccount === internalAccount;
  if (order.kind !== 'balance' && isAffected) order.expectedOutcome = null;
}

const hasProductionOrders = (sim: Sim) => productionOrders(sim).length > 0;

/** Payment actions of the sandbox, run for production platforms. */
const PRODUCTION_PAYMENTS = [
  (sim: Sim, people: Person[]) => createQuote(sim, true, people),
  (sim: Sim, people: Person[]) => quoteDebit(sim, people),
  (sim: Sim, people: Person[]) => transferOut(sim, people),
  (sim: Sim, people: Person[]) => transferIn(sim, people),
];

const directDebitsOf = (sim: Sim) =>
  productionOrders(sim).filter(({ kind, isStarted }) => kind === 'debit' && !isStarted);

const productionPayers = (sim: Sim) => payers(sim).filter(isInProduction);

export const OPERATOR_ACTIONS: readonly Action[] = [
  {
    name: 'pay in production',
    weight: 14,
    isPossible: (sim) => productionPayers(sim).length > 0,
    run: (sim) => sim.chance.pick(PRODUCTION_PAYMENTS)(sim, productionPayers(sim)),
  },
  {
    name: 'execute a funding debit in production',
    weight: 3,
    isPossible: (sim) => directDebitsOf(sim).length > 0,
    run: (sim) => executeOrder(sim, sim.chance.pick(directDebitsOf(sim))),
  },
  {
    name: 'report a payout result',
    weight: 16,
    isPossible: hasProductionOrders,
    run: reportResult,
  },
  {
    name: 'report a payout result twice',
    weight: 3,
    isPossible: hasProductionOrders,
    run: reportTwice,
  },
  {
    name: 'a funding debit is returned',
    weight: 1.5,
    isPossible: hasProductionOrders,
    run: returnDebit,
  },
  { name: 'list the queue', weight: 1, run: listPayouts },
  {
    name: 'record a deposit',
    weight: 10,
    isPossible: (sim) => activePeople(sim).some(isInProduction),
    run: recordDepositEntry,
  },
  {
    name: 'record a deposit for a quote',
    weight: 4,
    isPossible: (sim) => depositQuotes(sim).some(isInProduction),
    run: recordQuoteDeposit,
  },
  {
    name: 'record a deposit again',
    weight: 2,
    isPossible: (sim) => sim.entries.length > 0,
    run: recordEntryAgain,
  },
  {
    name: 'decide on a recorded deposit',
    weight: 3,
    isPossible: (sim) => incomingOrders(sim).some(isInProduction),
    run: decideDeposit,
  },
  { name: 'close, fail or retry an account', weight: 2, run: changeAccount },
];
