// What networks say more than once, or under names that were used before, and what they never say: the same
// message again and on both servers at once, another one under its id, a payment that came too late asked
// for once more, and payments that nobody mentions for a month. What each comes to is foretold.
import type {
  CardDecision,
  CardNotice,
  CardRequest,
} from '../../../../src/connectors/ports/cards.ts';
import { factsOf } from '../../picture/card-facts.ts';
import type { Noted } from '../../picture/picture.ts';
import { type Asked, decisionOn, handlerOf } from '../../world/issuer.ts';
import { runOnly } from '../../world/jobs.ts';
import type { Node } from '../../world/node.ts';
import { broken, type Sim } from '../../world/sim.ts';
import type { Action } from '../action.ts';
import {
  codeOf,
  noteOf,
  overLine,
  remember,
  requestOf,
  someCard,
  someRequest,
  textOf,
  told,
} from './card-talk.ts';
import { quiesce } from './quiet.ts';

/** Said before, and again on both servers at once: nothing more comes of it, and the answer is the same. */
async function sayAgain(sim: Sim): Promise<string> {
  const { request, decision, notice } = sim.chance.of(sim.said);
  const [one, other] = sim.nodes as [Node, Node];
  if (notice) {
    const codes = await Promise.all([told(sim, one, notice), told(sim, other, notice)]);
    if (codes.some((code) => code !== undefined)) throw broken(`${notice.id} again: ${codes}`);
    return notice.kind;
  }
  const until = sim.world.now() + sim.chance.of([-1, 1_000]);
  const handlers = [handlerOf(sim, one), handlerOf(sim, other)];
  const again = await Promise.all(
    handlers.map((handler) => handler.authorize(request as CardRequest, until)),
  );
  const due = JSON.stringify(decision);
  const off = again.find((each) => JSON.stringify(each) !== due);
  if (off) throw broken(`${request?.id} again: ${JSON.stringify(off)}, not ${due}`);
  return `${request?.kind}: ${textOf(decision as CardDecision)}`;
}

/** The same message for the first time on both servers: one effect, one answer. */
async function sayTwice(sim: Sim): Promise<string> {
  const card = someCard(sim);
  const asked = someRequest(sim, card);
  const due = decisionOn(sim, card, asked);
  const request = requestOf(sim, card, asked);
  const handlers = sim.nodes.map((node) => handlerOf(sim, node));
  const until = sim.world.now() + 1_000;
  const both = await Promise.all(handlers.map((handler) => handler.authorize(request, until)));
  return agree(sim, request, asked, both, due);
}

/** Twins at one handler, of which the first comes too late: no other hears of what is undone. */
async function sayTwiceLate(sim: Sim): Promise<string> {
  const card = someCard(sim);
  const asked = someRequest(sim, card);
  const due = overLine(decisionOn(sim, card, asked), asked, 'slow', 1);
  const request = requestOf(sim, card, asked);
  const handler = handlerOf(sim, sim.node(), 'slow');
  const now = sim.world.now();
  const both = await Promise.all([1, 1_000].map((ms) => handler.authorize(request, now + ms)));
  return agree(sim, request, asked, both, due);
}

/** All were told the same, and what was foretold. */
function agree(
  sim: Sim,
  request: CardRequest,
  asked: Asked,
  all: readonly CardDecision[],
  due: string,
): string {
  const [one, other] = all.map((each) => JSON.stringify(each));
  const decision = all[0] as CardDecision;
  if (one !== other || textOf(decision) !== due) throw broken(`${one}, ${other}; expected ${due}`);
  remember(sim, { request, decision });
  return noteOf(asked, due);
}

/** Another notice than this one. */
function unlike(sim: Sim, notice: CardNotice): CardNotice {
  const { id, token } = notice;
  if (notice.kind !== 'CLEARING') return { id, token, kind: 'CLEARING', amount: 1n };
  const { amount } = notice;
  const kind = sim.chance.of(['CLEARING', 'RETURN', 'AUTHORIZATION_ADVICE'] as const);
  return { id, token, kind, amount: kind === 'CLEARING' ? amount + 1n : amount };
}

/** Another message under the id of one that came: it is refused, and changes nothing. */
async function sayOtherwise(sim: Sim): Promise<string> {
  const { request, notice } = sim.chance.of(sim.said);
  const node = sim.node();
  if (notice) {
    const other = unlike(sim, notice);
    const code = await told(sim, node, other);
    if (code !== 'CONFLICT') throw broken(`${notice.id}, of ${other.kind}: ${code}`);
    return `${notice.kind}, ${other.kind}`;
  }
  const other = { ...(request as CardRequest), amount: (request?.amount ?? 0n) + 1n };
  const until = sim.world.now() + 1_000;
  const code = await handlerOf(sim, node).authorize(other, until).then(textOf, codeOf);
  if (code !== 'CONFLICT') throw broken(`${other.id} for another amount: ${code}`);
  return other.kind;
}

const openOnes = ({ picture }: Sim): Noted[] =>
  [...picture.cardBook.awaited].map((id) => picture.cardBook.payments.get(id) as Noted);

/** Two that mean the same, under one id, on both servers at once: one is heard, and the other is not. */
async function endTogether(sim: Sim): Promise<string> {
  const { token } = factsOf(sim.chance.of(openOnes(sim)));
  const id = `notice-${sim.next()}`;
  const notices: CardNotice[] = [
    { id, token, kind: 'AUTHORIZATION_EXPIRY' },
    { id, token, kind: 'CLEARING', amount: 0n },
  ];
  const codes = await Promise.all(
    notices.map((each, at) => told(sim, sim.nodes[at] as Node, each)),
  );
  const said = codes.map((code) => code ?? 'heard').sort();
  if (said.join() !== 'CONFLICT,heard') throw broken(`${id}, for two notices: ${said}`);
  return said.join();
}

/** Payments that came too late and were undone. */
const undone = ({ picture }: Sim): Noted[] =>
  [...picture.cardBook.payments.values()].filter((row) => row.card_undone_clearings);

/** Under the name of one that was undone: too late as well, and a conflict once some of it was cleared. */
async function askUndone(sim: Sim): Promise<string> {
  const facts = factsOf(sim.chance.of(undone(sim)));
  const card = sim.picture.cardBook.cards.get(facts.cardId) as Noted;
  const asked = someRequest(sim, card);
  const decided = decisionOn(sim, card, asked);
  const opens = decided === 'approved' && asked.kind !== 'BALANCE_INQUIRY';
  const due = opens ? (facts.settlements.length ? 'CONFLICT' : 'TOO_LATE') : decided;
  const request = { ...requestOf(sim, card, asked), token: facts.token };
  const until = sim.world.now() + 1_000;
  const is = await handlerOf(sim, sim.node()).authorize(request, until).then(textOf, codeOf);
  if (is !== due) throw broken(`${noteOf(asked, is)}, for ${facts.token}; expected ${due}`);
  return noteOf(asked, is);
}

const DAY = 24 * 3_600_000;
const LEFT = 'select id from card_open_payments where opened_at <= $1';

/** Nobody says anything for a month, and all else is done: what is older is let go of. */
async function fallSilent(sim: Sim): Promise<string> {
  await quiesce(sim);
  const node = sim.node();
  sim.world.pass(sim.chance.between(30 * DAY, 32 * DAY));
  const was = openOnes(sim).length;
  await runOnly(sim, node, []);
  const { rows } = await sim.client.query(LEFT, [new Date(sim.world.now() - 30 * DAY)]);
  if (rows.length > Math.max(0, was - 100)) throw broken(`after a month ${rows[0].id} is open`);
  return `${was}`;
}

const anyCard = (sim: Sim) => sim.picture.cardBook.cards.size > 0;
const anySaid = (sim: Sim) => sim.said.length > 0;
const anyOpen = (sim: Sim) => sim.picture.cardBook.awaited.size > 0;

export const CARD_ECHOES: readonly Action[] = [
  { name: 'say again', weight: 3, ready: anySaid, run: sayAgain },
  { name: 'say twice', weight: 1.5, ready: anyCard, run: sayTwice },
  { name: 'say twice and late', weight: 1, ready: anyCard, run: sayTwiceLate },
  { name: 'say otherwise', weight: 1, ready: anySaid, run: sayOtherwise },
  { name: 'end a card payment together', weight: 0.7, ready: anyOpen, run: endTogether },
  {
    name: 'ask once more too late',
    weight: 0.7,
    ready: (sim) => undone(sim).length > 0,
    run: askUndone,
  },
  { name: 'let networks fall silent', weight: 0.15, ready: anyOpen, run: fallSilent },
];
