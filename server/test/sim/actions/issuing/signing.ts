// Requests that a wallet signs, as its clients send them: mostly well, sometimes with a wrong signature, sent
// again once they were answered, by two servers at once, or given up halfway. What each must be answered is
// foretold; what it did is for the invariants to count.
import { type Keys, keyPairOf, signedHeaders } from '../../../kit/wallets/client-keys.ts';
import {
  type Answer,
  broken,
  type Platform,
  type Purse,
  type Request,
  type Sim,
} from '../../world/sim.ts';
import { expected, refusal } from '../action.ts';

/** A pair whose private half the clients remember. */
export function drawClientKeys(sim: Sim): Keys {
  const keys = keyPairOf(Buffer.from(sim.chance.bytes(32)).toString('hex'));
  sim.keys.set(keys.publicKey, keys.privateKey);
  return keys;
}

/** The private keys of a wallet's sessions that may sign now, the oldest first. */
export function liveKeys({ picture, keys, world }: Sim, wallet: Purse): string[] {
  const sessions = picture.holdings.get(wallet.id)?.sessions.values() ?? [];
  return [...sessions].flatMap(({ status, expires_at, public_key }) => {
    const live = status === 'ACTIVE' && Date.parse(expires_at ?? '') > world.now();
    return (live && keys.get(public_key ?? '')) || [];
  });
}

const WAYS = [
  { name: 'well', weight: 60 },
  { name: 'once more', weight: 10 },
  { name: 'twins', weight: 8 },
  { name: 'another text', weight: 8 },
  { name: 'a stranger', weight: 8 },
  { name: 'given up', weight: 6 },
] as const;

interface Leg {
  method: string;
  path: string;
  body?: object | undefined;
  as: Platform;
  /** It takes an idempotency key. */
  keyed?: boolean;
}

export interface Outcome {
  /** What came of it for certain; undefined where nothing did, or nobody knows. */
  answer?: Answer;
  note: string;
}

const MOST_POLLS = 20;
/** A quote that is being paid has a status of that name as well. */
const isAtWork = ({ body }: Answer) => body?.status === 'PROCESSING' && body.id === undefined;
const USED = 30;

/** Sends a signed leg until it is done, or somebody has had enough. */
async function send(sim: Sim, leg: Leg, headers: Record<string, string>): Promise<Outcome> {
  const more = { headers, keyless: !leg.keyed };
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const answer = await sim.ask(leg.method, leg.path, leg.body, leg.as, more);
    if (answer.status < 400 && isAtWork(answer)) {
      if (sim.chance.percent(15)) return { note: 'left at work' };
      continue;
    }
    // It was done, and nobody heard.
    if (answer.again && answer.status === 401) return { note: 'unheard' };
    if (answer.status < 400) {
      sim.used.push({ ...leg, body: leg.body, headers });
      if (sim.used.length > USED) sim.used.shift();
    }
    return { answer, note: `${answer.status}` };
  }
  throw broken(`${leg.method} ${leg.path} is never done`);
}

/** Both servers at once: one of them does it, or neither can. */
async function sendTwice(sim: Sim, leg: Leg, headers: Record<string, string>): Promise<Outcome> {
  for (const node of sim.nodes) node.trap(undefined);
  const requests = sim.nodes.map((node) => {
    const key = leg.keyed ? `twin-${sim.next()}` : undefined;
    return sim.once(node, { ...leg, body: leg.body, key, headers });
  });
  const answers = (await Promise.all(requests)) as Answer[];
  const done = answers.filter(({ status }) => status < 400);
  if (done.some(isAtWork)) return { note: 'twins at work' };
  const refused = answers.filter(({ status }) => status >= 400);
  // Whoever is late may have read the request before it was answered, and the rest after it.
  if (done.length > 1) throw broken(`${leg.method} ${leg.path}: ${JSON.stringify(answers)}`);
  const [answer] = done.length ? done : refused;
  return { answer: answer as Answer, note: `twins ${answer?.status}` };
}

/** A wrong signature, which is refused. */
async function sendBadly(
  sim: Sim,
  leg: Leg,
  asked: { payloadToSign: string; requestId: string },
  way: 'another text' | 'a stranger',
  key: string,
): Promise<void> {
  const stranger = way === 'a stranger';
  const said = stranger ? asked : { ...asked, payloadToSign: `${asked.payloadToSign} ` };
  const headers = await signedHeaders(said, stranger ? drawClientKeys(sim) : key);
  const more = { headers, keyless: !leg.keyed };
  const answer = await sim.ask(leg.method, leg.path, leg.body, leg.as, more);
  const code = refusal(answer, ['UNAUTHORIZED']);
  if (!code) throw broken(`${leg.method} ${leg.path} takes a wrong signature`);
}

/** All legs of a request, each but the first in one of the ways; the signed ones are counted. */
export async function sign(sim: Sim, leg: Leg, key: string, signed = 1): Promise<Outcome> {
  const first = await sim.ask(leg.method, leg.path, leg.body, leg.as, { keyless: !leg.keyed });
  let outcome: Outcome = { answer: first, note: `${first.status} at once` };
  for (let at = 0; at < signed && outcome.answer?.status === 202; at++) {
    outcome = await signOnce(sim, leg, key, outcome.answer);
  }
  return outcome;
}

/** One leg more, over what the one before it was answered with. */
async function signOnce(sim: Sim, leg: Leg, key: string, before: Answer): Promise<Outcome> {
  const asked = expected(before, 202);
  const way = sim.chance.weighed(WAYS).name;
  if (way === 'given up') return { note: way };
  if (way === 'another text' || way === 'a stranger') {
    await sendBadly(sim, leg, asked, way, key);
    if (sim.chance.percent(50)) return { note: way };
  }
  const headers = await signedHeaders(asked, key);
  if (way === 'twins') return sendTwice(sim, leg, headers);
  const outcome = await send(sim, leg, headers);
  if (way === 'once more' && outcome.answer && outcome.answer.status < 400) {
    await sendAgain(sim, { ...leg, body: leg.body, headers });
  }
  return { ...outcome, note: `${way}: ${outcome.note}` };
}

/** A request with a signature that was taken already: whatever stands by now, it does nothing. */
export async function sendAgain(sim: Sim, request: Request): Promise<string> {
  const { method, path, body, as, headers = {} } = request;
  const answer = await sim.ask(method, path, body, as, { headers, keyless: true });
  const codes = ['UNAUTHORIZED', 'CONFLICT', 'ACCOUNT_NOT_FOUND', 'QUOTE_EXPIRED'];
  const code = refusal(answer, codes);
  if (!code) throw broken(`${method} ${path} was done twice`);
  return code;
}
