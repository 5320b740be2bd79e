// Signed wallet requests as clients send them: usually valid, sometimes with a wrong signature,
// repeated after the reply, on two servers at once, or abandoned. Each reply is predicted; the
// invariants count the effects.
import { type Keys, keyPairOf, signedHeaders } from '../../../kit/wallets/client-keys.ts';
import {
  type ApiResponse,
  broken,
  type InternalAccount,
  type Platform,
  type Request,
  type Sim,
} from '../../harness/sim.ts';
import { expected, rejection } from '../action.ts';

/** A key pair whose private key the clients keep. */
export function generateClientKeys(sim: Sim): Keys {
  const keys = keyPairOf(Buffer.from(sim.chance.bytes(32)).toString('hex'));
  sim.keys.set(keys.publicKey, keys.privateKey);
  return keys;
}

/** Private keys of the wallet's sessions that may sign, oldest first. */
export function activeKeys({ model, keys, effects }: Sim, wallet: InternalAccount): string[] {
  const sessions = model.holdings.get(wallet.id)?.sessions.values() ?? [];
  return [...sessions].flatMap(({ status, expires_at, public_key }) => {
    const live = status === 'ACTIVE' && Date.parse(expires_at ?? '') > effects.now();
    return (live && keys.get(public_key ?? '')) || [];
  });
}

const WAYS = [
  { name: 'valid', weight: 60 },
  { name: 'repeated', weight: 10 },
  { name: 'concurrent', weight: 8 },
  { name: 'other payload', weight: 8 },
  { name: 'unknown key', weight: 8 },
  { name: 'abandoned', weight: 6 },
] as const;

interface Leg {
  method: string;
  path: string;
  body?: object | undefined;
  as: Platform;
  /** Whether the request has an idempotency key. */
  keyed?: boolean;
}

export interface SignedResult {
  /** The known result; undefined if nothing was done or the result is unknown. */
  response?: ApiResponse;
  note: string;
}

const MAX_POLLS = 20;
/** A quote that is being paid has a status of that name as well. */
const isAtWork = ({ body }: ApiResponse) => body?.status === 'PROCESSING' && body.id === undefined;
const USED = 30;

/** Sends a signed request until it completes or the client gives up. */
async function send(sim: Sim, leg: Leg, headers: Record<string, string>): Promise<SignedResult> {
  const more = { headers, withoutKey: !leg.keyed };
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const response = await sim.call(leg.method, leg.path, leg.body, leg.as, more);
    if (response.status < 400 && isAtWork(response)) {
      if (sim.chance.percent(15)) return { note: 'left processing' };
      continue;
    }
    // It completed, but the reply was lost.
    if (response.again && response.status === 401) return { note: 'unheard' };
    if (response.status < 400) {
      sim.used.push({ ...leg, body: leg.body, headers });
      if (sim.used.length > USED) sim.used.shift();
    }
    return { response: response, note: `${response.status}` };
  }
  throw broken(`${leg.method} ${leg.path} does not complete`);
}

/** On both servers at once: one executes it, or both fail. */
async function sendTwice(
  sim: Sim,
  leg: Leg,
  headers: Record<string, string>,
): Promise<SignedResult> {
  for (const node of sim.nodes) node.trap(undefined);
  const requests = sim.nodes.map((node) => {
    const key = leg.keyed ? `concurrent-${sim.next()}` : undefined;
    return sim.once(node, { ...leg, body: leg.body, key, headers });
  });
  const responses = (await Promise.all(requests)) as ApiResponse[];
  const done = responses.filter(({ status }) => status < 400);
  if (done.some(isAtWork)) return { note: 'concurrent, processing' };
  const rejected = responses.filter(({ status }) => status >= 400);
  // The later request may have read the state before or after the first reply.
  if (done.length > 1) throw broken(`${leg.method} ${leg.path}: ${JSON.stringify(responses)}`);
  const [response] = done.length ? done : rejected;
  return { response: response as ApiResponse, note: `concurrent: ${response?.status}` };
}

/** A wrong signature, which is rejected. */
async function sendBadly(
  sim: Sim,
  leg: Leg,
  requested: { payloadToSign: string; requestId: string },
  route: 'other payload' | 'unknown key',
  key: string,
): Promise<void> {
  const unknown = route === 'unknown key';
  const payload = unknown
    ? requested
    : { ...requested, payloadToSign: `${requested.payloadToSign} ` };
  const headers = await signedHeaders(payload, unknown ? generateClientKeys(sim) : key);
  const more = { headers, withoutKey: !leg.keyed };
  const response = await sim.call(leg.method, leg.path, leg.body, leg.as, more);
  const code = rejection(response, ['UNAUTHORIZED']);
  if (!code) throw broken(`${leg.method} ${leg.path} accepts a wrong signature`);
}

/** All steps of a signed request, each after the first in one of the ways. */
export async function sign(sim: Sim, leg: Leg, key: string, signed = 1): Promise<SignedResult> {
  const firstResponse = await sim.call(leg.method, leg.path, leg.body, leg.as, {
    withoutKey: !leg.keyed,
  });
  let outcome: SignedResult = { response: firstResponse, note: `${firstResponse.status} at once` };
  for (let index = 0; index < signed && outcome.response?.status === 202; index++) {
    outcome = await signOnce(sim, leg, key, outcome.response);
  }
  return outcome;
}

/** One more step, over the previous reply. */
async function signOnce(
  sim: Sim,
  leg: Leg,
  key: string,
  before: ApiResponse,
): Promise<SignedResult> {
  const requested = expected(before, 202);
  const route = sim.chance.weighed(WAYS).name;
  if (route === 'abandoned') return { note: route };
  if (route === 'other payload' || route === 'unknown key') {
    await sendBadly(sim, leg, requested, route, key);
    if (sim.chance.percent(50)) return { note: route };
  }
  const headers = await signedHeaders(requested, key);
  if (route === 'concurrent') return sendTwice(sim, leg, headers);
  const outcome = await send(sim, leg, headers);
  if (route === 'repeated' && outcome.response && outcome.response.status < 400) {
    await sendAgain(sim, { ...leg, body: leg.body, headers });
  }
  return { ...outcome, note: `${route}: ${outcome.note}` };
}

/** A used signature has no further effect. */
export async function sendAgain(sim: Sim, request: Request): Promise<string> {
  const { method, path, body, as, headers = {} } = request;
  const response = await sim.call(method, path, body, as, { headers, withoutKey: true });
  const codes = ['UNAUTHORIZED', 'CONFLICT', 'ACCOUNT_NOT_FOUND', 'QUOTE_EXPIRED'];
  const code = rejection(response, codes);
  if (!code) throw broken(`${method} ${path} was executed twice`);
  return code;
}
