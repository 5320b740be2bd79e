// Repeated and missing card network messages. A message is repeated, also on both servers
// concurrently, or its ID is used for a different message. An authorization is retried after the
// deadline. Payments have no message for a month.
import type {
  CardDecision,
  CardNotice,
  CardRequest,
} from '../../../../src/connectors/ports/cards.ts';
import { type CardInput, handlerOf, predictDecision } from '../../harness/issuer.ts';
import { runOnly } from '../../harness/jobs.ts';
import type { Node } from '../../harness/node.ts';
import { type Sim, violation } from '../../harness/sim.ts';
import { factsOf } from '../../model/card-facts.ts';
import type { RecordedRow } from '../../model/model.ts';
import type { Action } from '../action.ts';
import {
  chooseCard,
  chooseRequest,
  codeOf,
  decisionOverConnection,
  describeRequest,
  recordMessage,
  requestOf,
  sendNotice,
  textOf,
} from './card-messages.ts';
import { settleAll } from './settling.ts';

/**
 * Repeats an earlier message on both servers concurrently, with the same reply and no further
 * effect.
 */
async function repeatMessage(sim: Sim): Promise<string> {
  const { request, decision, notice } = sim.chance.pick(sim.cardMessages);
  const [firstNode, otherNode] = sim.nodes as [Node, Node];
  if (notice) {
    const codes = await Promise.all([
      sendNotice(sim, firstNode, notice),
      sendNotice(sim, otherNode, notice),
    ]);
    if (codes.some((code) => code !== undefined))
      throw violation(`${notice.id} repeated: ${codes}`);
    return notice.kind;
  }
  const deadline = sim.effects.now() + sim.chance.pick([-1, 1_000]);
  const handlers = [handlerOf(sim, firstNode), handlerOf(sim, otherNode)];
  const secondDecisions = await Promise.all(
    handlers.map((handler) => handler.authorize(request as CardRequest, deadline)),
  );
  const expectedReply = JSON.stringify(decision);
  const differentDecision = secondDecisions.find(
    (decision) => JSON.stringify(decision) !== expectedReply,
  );
  if (differentDecision)
    throw violation(
      `${request?.id} repeated: ${JSON.stringify(differentDecision)}, not ${expectedReply}`,
    );
  return `${request?.kind}: ${textOf(decision as CardDecision)}`;
}

/** Sends the same new message to both servers concurrently, with one effect and one reply. */
async function sendTwice(sim: Sim): Promise<string> {
  const card = chooseCard(sim);
  const requestInput = chooseRequest(sim, card);
  const expectedDecision = predictDecision(sim, card, requestInput);
  const request = requestOf(sim, card, requestInput);
  const handlers = sim.nodes.map((node) => handlerOf(sim, node));
  const deadline = sim.effects.now() + 1_000;
  const decisions = await Promise.all(
    handlers.map((handler) => handler.authorize(request, deadline)),
  );
  return expectSameReply(sim, request, requestInput, decisions, expectedDecision);
}

/**
 * Sends a message twice concurrently to one handler. The first decision is too late. Its reversal
 * has no effect on the second decision.
 */
async function sendTwiceLate(sim: Sim): Promise<string> {
  const card = chooseCard(sim);
  const requestInput = chooseRequest(sim, card);
  const expectedDecision = decisionOverConnection(
    predictDecision(sim, card, requestInput),
    requestInput,
    'slow',
    1,
  );
  const request = requestOf(sim, card, requestInput);
  const handler = handlerOf(sim, sim.pickNode(), 'slow');
  const now = sim.effects.now();
  const decisions = await Promise.all([1, 1_000].map((ms) => handler.authorize(request, now + ms)));
  return expectSameReply(sim, request, requestInput, decisions, expectedDecision);
}

/** Checks that both replies are equal and as predicted. Returns a line of the trace. */
function expectSameReply(
  sim: Sim,
  request: CardRequest,
  requestInput: CardInput,
  decisions: readonly CardDecision[],
  expectedDecision: string,
): string {
  const [firstReply, secondReply] = decisions.map((decision) => JSON.stringify(decision));
  const decision = decisions[0] as CardDecision;
  if (firstReply !== secondReply || textOf(decision) !== expectedDecision)
    throw violation(`${firstReply}, ${secondReply}, expected ${expectedDecision}`);
  recordMessage(sim, { request, decision });
  return describeRequest(requestInput, expectedDecision);
}

function createDifferentNotice(sim: Sim, notice: CardNotice): CardNotice {
  const { id, token } = notice;
  if (notice.kind !== 'CLEARING') return { id, token, kind: 'CLEARING', amount: 1n };
  const { amount } = notice;
  const kind = sim.chance.pick(['CLEARING', 'RETURN', 'AUTHORIZATION_ADVICE'] as const);
  return { id, token, kind, amount: kind === 'CLEARING' ? amount + 1n : amount };
}

/** A different message under the ID of an earlier one is rejected without an effect. */
async function reuseMessageId(sim: Sim): Promise<string> {
  const { request, notice } = sim.chance.pick(sim.cardMessages);
  const node = sim.pickNode();
  if (notice) {
    const otherNotice = createDifferentNotice(sim, notice);
    const code = await sendNotice(sim, node, otherNotice);
    if (code !== 'CONFLICT')
      throw violation(
        `${notice.id}, reused for ${otherNotice.kind}: ${code ?? 'accepted'}, expected CONFLICT`,
      );
    return `${notice.kind}, ${otherNotice.kind}`;
  }
  const otherRequest = { ...(request as CardRequest), amount: (request?.amount ?? 0n) + 1n };
  const deadline = sim.effects.now() + 1_000;
  const code = await handlerOf(sim, node).authorize(otherRequest, deadline).then(textOf, codeOf);
  if (code !== 'CONFLICT')
    throw violation(`${otherRequest.id}, reused for another amount: ${code}, expected CONFLICT`);
  return otherRequest.kind;
}

const openPayments = ({ model }: Sim): RecordedRow[] =>
  [...model.cardRecords.openPayments].map(
    (id) => model.cardRecords.payments.get(id) as RecordedRow,
  );

/** Two equivalent notices under one ID on both servers concurrently, of which one is accepted. */
async function closeConcurrently(sim: Sim): Promise<string> {
  const { token } = factsOf(sim.chance.pick(openPayments(sim)));
  const id = `notice-${sim.nextNumber()}`;
  const notices: CardNotice[] = [
    { id, token, kind: 'AUTHORIZATION_EXPIRY' },
    { id, token, kind: 'CLEARING', amount: 0n },
  ];
  const codes = await Promise.all(
    notices.map((notice, index) => sendNotice(sim, sim.nodes[index] as Node, notice)),
  );
  const reportedCodes = codes.map((code) => code ?? 'accepted').sort();
  if (reportedCodes.join() !== 'CONFLICT,accepted')
    throw violation(`${id}, for two notices: ${reportedCodes}, expected one CONFLICT`);
  return reportedCodes.join();
}

/** Authorizations that were approved too late and reversed. */
const reversedPayments = ({ model }: Sim): RecordedRow[] =>
  [...model.cardRecords.payments.values()].filter((row) => row.card_undone_clearings);

/**
 * A retry of a reversed authorization is also too late, and a conflict after a partial clearing.
 */
async function retryReversed(sim: Sim): Promise<string> {
  const facts = factsOf(sim.chance.pick(reversedPayments(sim)));
  const card = sim.model.cardRecords.cards.get(facts.cardId) as RecordedRow;
  const requestInput = chooseRequest(sim, card);
  const predictedDecision = predictDecision(sim, card, requestInput);
  const isPaymentOpened =
    predictedDecision === 'approved' && requestInput.kind !== 'BALANCE_INQUIRY';
  const expectedDecision = isPaymentOpened
    ? facts.settlements.length
      ? 'CONFLICT'
      : 'TOO_LATE'
    : predictedDecision;
  const request = { ...requestOf(sim, card, requestInput), token: facts.token };
  const deadline = sim.effects.now() + 1_000;
  const result = await handlerOf(sim, sim.pickNode())
    .authorize(request, deadline)
    .then(textOf, codeOf);
  if (result !== expectedDecision)
    throw violation(
      `${describeRequest(requestInput, result)}, for ${facts.token}, expected ${expectedDecision}`,
    );
  return describeRequest(requestInput, result);
}

const DAY = 24 * 3_600_000;
const OPEN_PAYMENTS = 'select id from card_open_payments where opened_at <= $1';

/** Open payments expire after a month without a message. */
async function expireOpenPayments(sim: Sim): Promise<string> {
  await settleAll(sim);
  const node = sim.pickNode();
  sim.effects.advance(sim.chance.integerBetween(30 * DAY, 32 * DAY));
  const countBefore = openPayments(sim).length;
  await runOnly(sim, node, []);
  const { rows } = await sim.client.query(OPEN_PAYMENTS, [new Date(sim.effects.now() - 30 * DAY)]);
  if (rows.length > Math.max(0, countBefore - 100))
    throw violation(`${rows[0].id} is open after a month without a message`);
  return `${countBefore}`;
}

const hasCard = (sim: Sim) => sim.model.cardRecords.cards.size > 0;
const hasMessage = (sim: Sim) => sim.cardMessages.length > 0;
const hasOpenPayment = (sim: Sim) => sim.model.cardRecords.openPayments.size > 0;

export const CARD_REPEATS: readonly Action[] = [
  { name: 'repeat a card message', weight: 3, isPossible: hasMessage, run: repeatMessage },
  { name: 'send a card message twice', weight: 1.5, isPossible: hasCard, run: sendTwice },
  { name: 'send a late card message twice', weight: 1, isPossible: hasCard, run: sendTwiceLate },
  { name: 'reuse a message ID', weight: 1, isPossible: hasMessage, run: reuseMessageId },
  {
    name: 'close a card payment concurrently',
    weight: 0.7,
    isPossible: hasOpenPayment,
    run: closeConcurrently,
  },
  {
    name: 'retry a late authorization',
    weight: 0.7,
    isPossible: (sim) => reversedPayments(sim).length > 0,
    run: retryReversed,
  },
  {
    name: 'stop card network messages',
    weight: 0.15,
    isPossible: hasOpenPayment,
    run: expireOpenPayments,
  },
];
