// Card network messages. Requests are sent through the sandbox operations and the authorization
// handler, with and without sufficient funds. Notices about approved payments arrive in any order,
// for the right and the wrong payment, late, and over failing connections. Each result is
// predicted.
import type {
  CardDecision,
  CardNotice,
  CardRequest,
} from '../../../../src/connectors/ports/cards.ts';
import {
  type CardInput,
  type Connection,
  checkNotice,
  firstFundingSource,
  handlerOf,
  isContradictory,
  type NoticeInput,
  predictDecision,
} from '../../harness/issuer.ts';
import { dueJobs, runOnly } from '../../harness/jobs.ts';
import type { Node } from '../../harness/node.ts';
import { type CardMessage, type Platform, type Sim, violation } from '../../harness/sim.ts';
import { factsOf, unitsIn } from '../../model/card-facts.ts';
import type { RecordedRow } from '../../model/model.ts';
import { type Action, bodyOf, checkReply } from '../action.ts';

const KINDS = [
  { kind: 'AUTHORIZATION', weight: 50 },
  { kind: 'FINANCIAL_AUTHORIZATION', weight: 14 },
  { kind: 'CREDIT_AUTHORIZATION', weight: 6 },
  { kind: 'FINANCIAL_CREDIT_AUTHORIZATION', weight: 6 },
  { kind: 'CREDIT_AUTHORIZATION_ADVICE', weight: 4 },
  { kind: 'BALANCE_INQUIRY', weight: 5 },
] as const;

/** Suffixes of merchant descriptors. */
const SUFFIXES = [
  { suffix: '000', weight: 12 },
  { suffix: '002', weight: 1 },
  { suffix: '003', weight: 1 },
  { suffix: '005', weight: 4 },
  { suffix: '006', weight: 2.5 },
];

const RECENT_COUNT = 80;
const MAX_STORED_MESSAGES = 40;

export const platformIn = ({ platforms }: Sim, id: string | null | undefined): Platform =>
  platforms.find((platform) => platform.id === id) as Platform;

/** Usually an active card. */
export function chooseCard(sim: Sim): RecordedRow {
  const recentCards = [...sim.model.cardRecords.cards.values()].slice(-RECENT_COUNT);
  const activeCards = recentCards.filter(({ state }) => state === 'ACTIVE');
  return sim.chance.pick(activeCards.length && sim.chance.percent(92) ? activeCards : recentCards);
}

/** An amount in cents, usually not more than the available amount. */
function chooseAmount(sim: Sim, card: RecordedRow): bigint {
  const { chance, model } = sim;
  const id = firstFundingSource(card);
  const unit = unitsIn({ sent_currency: model.internal.get(id)?.currency ?? null });
  const { balance = 0n, held = 0n } = model.accounts.get(id) ?? {};
  const availableAmount = Number((balance - held) / (unit || 1n));
  const maximum = chance.percent(85)
    ? Math.max(1, Math.min(availableAmount, 20_000))
    : availableAmount + 500;
  return BigInt(
    chance.percent(10) ? Math.max(1, availableAmount) : chance.integerBetween(1, maximum),
  );
}

export function chooseRequest(sim: Sim, card: RecordedRow): CardInput {
  const { kind } = sim.chance.pickWeighted(KINDS);
  const amount = kind === 'BALANCE_INQUIRY' ? 0n : chooseAmount(sim, card);
  const descriptor = `SHOP ${sim.chance.pickWeighted(SUFFIXES).suffix}`;
  return { kind, amount, currency: 'USD', descriptor };
}

const DECISION = `select approved, reason, transaction_id from card_messages
  where token = $1 order by id`;

/** The decision in the message log. */
async function loggedDecision(sim: Sim, token: string): Promise<string> {
  const { rows } = await sim.client.query(DECISION, [`sandbox ${token}`]);
  if (rows.length !== 1) throw violation(`${token} has ${rows.length} lines in the log, not 1`);
  return rows[0].approved ? 'approved' : rows[0].reason;
}

export const describeRequest = ({ kind, amount, descriptor }: CardInput, decision: string) =>
  `${kind} ${amount} ${descriptor}: ${decision}`;

/** A request through the sandbox operations. */
async function simulateRequest(sim: Sim): Promise<string> {
  const card = chooseCard(sim);
  const requestInput = chooseRequest(sim, card);
  const expectedDecision = predictDecision(sim, card, requestInput);
  const { kind, amount, descriptor } = requestInput;
  const amountFields =
    kind === 'BALANCE_INQUIRY' ? {} : { amount: Number(amount), currency: { code: 'USD' } };
  const path = `/sandbox/cards/${card.id}/simulate/${kind.toLowerCase()}`;
  const body = { ...amountFields, merchant: { descriptor } };
  const response = await sim.call('POST', path, body, platformIn(sim, card.platform_id));
  const { issuerTransactionToken: token } = bodyOf(response, 202);
  const decision = await loggedDecision(sim, token);
  if (decision !== expectedDecision)
    throw violation(
      `${describeRequest(requestInput, decision)}, expected ${expectedDecision}, of ${card.id}`,
    );
  return describeRequest(requestInput, decision);
}

export const textOf = (decision: CardDecision) =>
  decision.approved ? 'approved' : decision.reason;

export function recordMessage(sim: Sim, cardMessage: CardMessage): void {
  sim.cardMessages.push(cardMessage);
  if (sim.cardMessages.length > MAX_STORED_MESSAGES) sim.cardMessages.shift();
}

export function requestOf(sim: Sim, card: RecordedRow, requestInput: CardInput): CardRequest {
  const number = sim.nextNumber();
  const { kind, amount, currency, descriptor } = requestInput;
  return {
    ...{ id: `message-${number}`, token: `token-${number}`, cardId: card.id as string },
    ...{ kind: kind as CardRequest['kind'], amount, currency, merchant: { descriptor } },
  };
}

const CONNECTIONS: readonly { connection: Connection; remainingMs: number; weight: number }[] = [
  { connection: 'stable', remainingMs: 1_000, weight: 60 },
  { connection: 'stable', remainingMs: -1, weight: 5 },
  { connection: 'slow', remainingMs: 1, weight: 12 },
  { connection: 'fails before', remainingMs: 1_000, weight: 6 },
  { connection: 'fails after', remainingMs: 1_000, weight: 6 },
];

/** The decision over a connection that may fail. An approval that arrives too late is declined. */
export function decisionOverConnection(
  expectedDecision: string,
  { kind, amount }: CardInput,
  connection: Connection,
  remainingMs: number,
): string {
  if (remainingMs < 0 || connection === 'fails before') return 'TOO_LATE';
  const isPaymentOpened =
    expectedDecision === 'approved' && kind !== 'BALANCE_INQUIRY' && amount > 0n;
  return connection === 'slow' && isPaymentOpened ? 'TOO_LATE' : expectedDecision;
}

/** A request through the authorization handler. */
async function sendNetworkRequest(sim: Sim): Promise<string> {
  const card = chooseCard(sim);
  const requestInput = chooseRequest(sim, card);
  if (sim.chance.percent(4)) requestInput.currency = 'EUR';
  // An authorization of zero is an account verification.
  if (sim.chance.percent(4)) Object.assign(requestInput, { kind: 'AUTHORIZATION', amount: 0n });
  const { connection, remainingMs } = sim.chance.pickWeighted(CONNECTIONS);
  const expectedDecision = decisionOverConnection(
    predictDecision(sim, card, requestInput),
    requestInput,
    connection,
    remainingMs,
  );
  const request = requestOf(sim, card, requestInput);
  const handler = handlerOf(sim, sim.pickNode(), connection);
  const decision = await handler.authorize(request, sim.effects.now() + remainingMs);
  const result = textOf(decision);
  if (result !== expectedDecision)
    throw violation(
      `${describeRequest(requestInput, result)}, ${connection}, expected ${expectedDecision}, of ${card.id}`,
    );
  recordMessage(sim, { request, decision });
  return `${describeRequest(requestInput, result)}, ${connection}`;
}

const recentPayments = (sim: Sim) =>
  [...sim.model.cardRecords.payments.values()].slice(-RECENT_COUNT);

/** Usually a payment that expects further messages. */
function choosePayment(sim: Sim): RecordedRow {
  const payments = recentPayments(sim);
  const openPayments = payments.filter(({ status }) =>
    ['AUTHORIZED', 'PARTIALLY_SETTLED'].includes(status ?? ''),
  );
  return sim.chance.pick(openPayments.length && sim.chance.percent(60) ? openPayments : payments);
}

const NOTICES: { kind: NoticeInput['kind']; weight: number }[] = [
  { kind: 'CLEARING', weight: 50 },
  { kind: 'AUTHORIZATION_EXPIRY', weight: 8 },
  { kind: 'AUTHORIZATION_ADVICE', weight: 14 },
  { kind: 'RETURN', weight: 25 },
  { kind: 'RETURN_REVERSAL', weight: 10 },
];

function chooseNotice(sim: Sim, row: RecordedRow): NoticeInput {
  const { chance } = sim;
  const { authorizedAmount, settledAmount, refundedAmount, direction } = factsOf(row);
  const isRefundReversal = row.status === 'REFUNDED' && chance.percent(60);
  const isSettled = ['SETTLED', 'REFUNDED'].includes(row.status as string) && direction === 'DEBIT';
  // Usually a notice that is valid for the payment.
  const notices = settledAmount > 0n || chance.percent(15) ? NOTICES : NOTICES.slice(0, 3);
  const ordinaryKind =
    isSettled && chance.percent(60) ? 'RETURN' : chance.pickWeighted(notices).kind;
  const kind = isRefundReversal ? 'RETURN_REVERSAL' : ordinaryKind;
  const amountUpTo = (maximum: bigint) =>
    BigInt(chance.integerBetween(1, Math.max(1, Number(maximum))));
  const fullAmounts: Partial<Record<NoticeInput['kind'], bigint>> = {
    CLEARING: authorizedAmount - settledAmount,
    RETURN: settledAmount - refundedAmount,
  };
  const fullAmount = fullAmounts[kind] ?? authorizedAmount;
  const amounts = [
    fullAmount > 0n ? fullAmount : amountUpTo(authorizedAmount),
    amountUpTo(fullAmount),
    amountUpTo(authorizedAmount * 2n),
  ];
  const hasNoAmount = ['AUTHORIZATION_EXPIRY', 'RETURN_REVERSAL'].includes(kind);
  return { kind, amount: hasNoAmount ? 0n : chance.pick(amounts) };
}

const CARD_COLUMNS = [
  ...[
    'card',
    'card_authorized',
    'card_closed',
    'card_clearings',
    'card_refunds',
    'card_funding_debits',
  ],
  ...['card_funding_debit_statuses', 'card_released', 'card_written_off', 'card_recovered'],
  ...['card_reversed_refunds'],
];
const SELECT_PAYMENT = `select id, status, direction, source_account, destination_account, sent_currency,
  ${CARD_COLUMNS.map((name) => `${name}::text`)} from transactions where id = $1`;

/** The current row of the payment. */
async function readPayment(sim: Sim, id: string | null | undefined): Promise<RecordedRow> {
  const { rows } = await sim.client.query<RecordedRow>(SELECT_PAYMENT, [id]);
  return rows[0] as RecordedRow;
}

const PATHS: Readonly<Record<string, string>> = {
  CLEARING: 'clearing',
  AUTHORIZATION_EXPIRY: 'clearing',
  AUTHORIZATION_ADVICE: 'authorization_advice',
  RETURN: 'return',
  RETURN_REVERSAL: 'return_reversal',
};

/** Sometimes another card or an unknown payment, and otherwise undefined. */
function chooseWrongPayment(
  sim: Sim,
  row: RecordedRow,
): { cardId: string; paymentId: string } | undefined {
  const { cardId } = factsOf(row);
  if (!sim.chance.percent(6)) return undefined;
  const { platform_id } = sim.model.cardRecords.cards.get(cardId) as RecordedRow;
  const otherCards = [...sim.model.cardRecords.cards.values()].filter(
    (card) => card.id !== cardId && card.platform_id === platform_id,
  );
  if (otherCards.length === 0 || sim.chance.percent(30)) {
    return { cardId, paymentId: 'CardTransaction:019b0000-0000-7000-8000-000000000000' };
  }
  return { cardId: sim.chance.pick(otherCards).id as string, paymentId: row.id as string };
}

async function simulateNotice(sim: Sim): Promise<string> {
  const row = choosePayment(sim);
  const input = chooseNotice(sim, row);
  const wrongIds = chooseWrongPayment(sim, row);
  const { cardId, paymentId } = wrongIds ?? {
    cardId: factsOf(row).cardId,
    paymentId: row.id,
  };
  const contradictionCodes = isContradictory(row, input, true) ? ['INVALID_INPUT'] : [];
  const codes = wrongIds ? ['TRANSACTION_NOT_FOUND'] : contradictionCodes;
  const amountFields = input.kind === 'RETURN_REVERSAL' ? {} : { amount: Number(input.amount) };
  const path = `/sandbox/cards/${cardId}/simulate/${PATHS[input.kind]}`;
  const body = { cardTransactionId: paymentId, ...amountFields };
  const response = await sim.call('POST', path, body, platformIn(sim, row.platform_id));
  const description = `${input.kind} ${input.amount} of ${row.status}`;
  const code = checkReply(response, codes, `${description}, ${row.id}`);
  if (code) return `${description}: ${code}`;
  const { issuerTransactionToken: token } = bodyOf(response, 202);
  const expectedToken = factsOf(row).token;
  if (token !== expectedToken)
    throw violation(`${row.id} has the token ${token}, not ${expectedToken}`);
  const updatedPayment = await readPayment(sim, row.id);
  checkNotice(sim, row, updatedPayment, input);
  return `${description}: ${updatedPayment.status}`;
}

/** The code of a fault. Rethrows any other error. */
export function codeOf(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name !== 'Fault' || !code) throw error;
  return code;
}

export async function sendNotice(
  sim: Sim,
  node: Node,
  notice: CardNotice,
): Promise<string | undefined> {
  return handlerOf(sim, node)
    .applyNotice(notice)
    .then(() => undefined, codeOf);
}

async function sendNetworkNotice(sim: Sim): Promise<string> {
  const row = choosePayment(sim);
  const input = chooseNotice(sim, row);
  const { token } = factsOf(row);
  const notice = { id: `notice-${sim.nextNumber()}`, token, ...input } as CardNotice;
  const code = await sendNotice(sim, sim.pickNode(), notice);
  const description = `${input.kind} ${input.amount} of ${row.status}`;
  if ((code === undefined) === isContradictory(row, input, false)) {
    throw violation(`${description}, ${row.id}: ${code ?? 'was accepted'}`);
  }
  if (code) return `${description}: ${code}`;
  recordMessage(sim, { notice });
  const updatedPayment = await readPayment(sim, row.id);
  checkNotice(sim, row, updatedPayment, input);
  return `${description}: ${updatedPayment.status}`;
}

/** Concurrent authorizations against one balance, which are approved up to the available amount. */
async function authorizeConcurrently(sim: Sim): Promise<string> {
  const card = chooseCard(sim);
  const amount = chooseAmount(sim, card);
  const requestInput = { kind: 'AUTHORIZATION', amount, currency: 'USD', descriptor: 'CROWD 000' };
  const count = 4;
  const expectedDecision = predictDecision(sim, card, requestInput);
  const id = firstFundingSource(card);
  const unit = unitsIn({ sent_currency: sim.model.internal.get(id)?.currency ?? null });
  const { balance = 0n, held = 0n } = sim.model.accounts.get(id) ?? {};
  const affordableCount = unit ? Number((balance - held) / (amount * unit)) : 0;
  const deadline = sim.effects.now() + 1_000;
  const decisions = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      handlerOf(sim, sim.nodes[index % 2] as Node).authorize(
        requestOf(sim, card, requestInput),
        deadline,
      ),
    ),
  );
  const approvedCount = decisions.filter(({ approved }) => approved).length;
  const expectedCount = expectedDecision === 'approved' ? Math.min(count, affordableCount) : 0;
  if (approvedCount !== expectedCount)
    throw violation(`${amount} of ${card.id}: ${approvedCount} approved, not ${expectedCount}`);
  return `${amount}: ${approvedCount} of ${count}`;
}

/** Spends the complete balance, so that the account can be closed. */
async function spendBalance(sim: Sim): Promise<string> {
  const candidates = [...sim.model.cardRecords.cards.values()].flatMap((card) => {
    const id = firstFundingSource(card);
    const unit = unitsIn({ sent_currency: sim.model.internal.get(id)?.currency ?? null });
    const { balance = 0n, held = 1n } = sim.model.accounts.get(id) ?? {};
    const isSpendable = unit && held === 0n && balance > 0n && balance % unit === 0n;
    const amount = isSpendable ? balance / unit : 0n;
    const requestInput = {
      kind: 'FINANCIAL_AUTHORIZATION',
      currency: 'USD',
      descriptor: 'ALL 000',
    };
    return isSpendable && predictDecision(sim, card, { ...requestInput, amount }) === 'approved'
      ? [{ card, requestInput: { ...requestInput, amount } }]
      : [];
  });
  if (candidates.length === 0) return 'none';
  const { card, requestInput } = sim.chance.pick(candidates);
  const deadline = sim.effects.now() + 1_000;
  const request = requestOf(sim, card, requestInput);
  const decision = await handlerOf(sim, sim.pickNode()).authorize(request, deadline);
  if (!decision.approved)
    throw violation(`${describeRequest(requestInput, decision.reason)}, of ${card.id}`);
  recordMessage(sim, { request, decision });
  // Usually the job of the funding debit runs immediately.
  if (sim.chance.percent(80)) await runOnly(sim, sim.pickNode(), dueJobs(sim).slice(-1));
  return `${requestInput.amount}`;
}

/** A declined request has no payment, so a notice about it is rejected. */
async function clearDeclined(sim: Sim): Promise<string> {
  const [token] = [...sim.model.cardRecords.declinedTokens].slice(-1);
  const networkToken = token?.replace(/^\w+ /, '') ?? 'unknown';
  const notice = {
    id: `notice-${sim.nextNumber()}`,
    token: networkToken,
    kind: 'CLEARING',
    amount: 5n,
  } as const;
  const code = await sendNotice(sim, sim.pickNode(), notice);
  if (code !== 'TRANSACTION_NOT_FOUND')
    throw violation(
      `a clearing of ${networkToken}: ${code ?? 'accepted'}, expected TRANSACTION_NOT_FOUND`,
    );
  return code;
}

const hasCard = (sim: Sim) => sim.model.cardRecords.cards.size > 0;
const hasPayment = (sim: Sim) => sim.model.cardRecords.payments.size > 0;
const hasDeclinedRequest = ({ model }: Sim) => model.cardRecords.declinedTokens.size > 0;

export const CARD_MESSAGES: readonly Action[] = [
  { name: 'use a card', weight: 16, isPossible: hasCard, run: simulateRequest },
  {
    name: 'use a card by network message',
    weight: 8,
    isPossible: hasCard,
    run: sendNetworkRequest,
  },
  { name: 'send a card notice', weight: 18, isPossible: hasPayment, run: simulateNotice },
  {
    name: 'send a card notice to the handler',
    weight: 12,
    isPossible: hasPayment,
    run: sendNetworkNotice,
  },
  { name: 'use a card concurrently', weight: 1.5, isPossible: hasCard, run: authorizeConcurrently },
  { name: 'spend a balance with a card', weight: 1, isPossible: hasCard, run: spendBalance },
  {
    name: 'send a notice about a declined request',
    weight: 0.5,
    isPossible: hasDeclinedRequest,
    run: clearDeclined,
  },
];
