// Signed wallet requests as clients send them. Most are valid. Some have an invalid signature, are
// repeated after the reply or on two servers concurrently, or are abandoned. Each reply is
// predicted, and the invariants count the effects.
import { type Keys, keyPairOf, signedHeaders } from '../../../kit/wallets/client-keys.ts';
import {
  type ApiResponse,
  type InternalAccount,
  type Platform,
  type Request,
  type Sim,
  violation,
} from '../../harness/sim.ts';
import { bodyOf, rejectionCode } from '../action.ts';

/** A key pair whose private key the clients keep. */
export function generateClientKeys(sim: Sim): Keys {
  const keys = keyPairOf(Buffer.from(sim.chance.bytes(32)).toString('hex'));
  sim.clientKeys.set(keys.publicKey, keys.privateKey);
  return keys;
}

/** Private keys of the wallet's sessions that may sign, oldest first. */
export function activeKeys({ model, clientKeys, effects }: Sim, wallet: InternalAccount): string[] {
  const sessions = model.holdings.get(wallet.id)?.sessions.values() ?? [];
  return [...sessions].flatMap(({ status, expires_at, public_key }) => {
    const isActive = status === 'ACTIVE' && Date.parse(expires_at ?? '') > effects.now();
    return (isActive && clientKeys.get(public_key ?? '')) || [];
  });
}

const VARIANTS = [
  { name: 'valid', weight: 60 },
  { name: 'repeated', weight: 10 },
  { name: 'concurrent', weight: 8 },
  { name: 'other payload', weight: 8 },
  { name: 'unknown key', weight: 8 },
  { name: 'abandoned', weight: 6 },
] as const;

interface UnsignedRequest {
  method: string;
  path: string;
  body?: object | undefined;
  platform: Platform;
  /** Whether the request has an idempotency key. */
  hasIdempotencyKey?: boolean;
}

export interface SignedResult {
  /** The known result, or undefined if there was no effect or the result is unknown. */
  response?: ApiResponse;
  trace: string;
}

const MAX_POLLS = 20;
/** Whether the signed request is in progress. A quote with the status PROCESSING has an ID. */
const isProcessing = ({ body }: ApiResponse) =>
  body?.status === 'PROCESSING' && body.id === undefined;
const MAX_STORED_REQUESTS = 30;

/** Sends a signed request until it completes or the client stops. */
async function sendUntilComplete(
  sim: Sim,
  request: UnsignedRequest,
  headers: Record<string, string>,
): Promise<SignedResult> {
  const options = { headers, withoutKey: !request.hasIdempotencyKey };
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    const response = await sim.call(
      request.method,
      request.path,
      request.body,
      request.platform,
      options,
    );
    if (response.status < 400 && isProcessing(response)) {
      if (sim.chance.percent(15)) return { trace: 'still processing' };
      continue;
    }
    // The request completed, and its reply was lost.
    if (response.isRepeated && response.status === 401) return { trace: 'reply lost' };
    if (response.status < 400) {
      sim.signedRequests.push({ ...request, body: request.body, headers });
      if (sim.signedRequests.length > MAX_STORED_REQUESTS) sim.signedRequests.shift();
    }
    return { response, trace: `${response.status}` };
  }
  throw violation(`${request.method} ${request.path} did not complete after ${MAX_POLLS} requests`);
}

/** Sends a signed request to two servers concurrently. At most one executes it. */
async function sendTwice(
  sim: Sim,
  request: UnsignedRequest,
  headers: Record<string, string>,
): Promise<SignedResult> {
  for (const node of sim.nodes) node.setTrap(undefined);
  const requests = sim.nodes.map((node) => {
    const key = request.hasIdempotencyKey ? `concurrent-${sim.nextNumber()}` : undefined;
    return sim.sendOnce(node, { ...request, body: request.body, key, headers });
  });
  const responses = (await Promise.all(requests)) as ApiResponse[];
  const successes = responses.filter(({ status }) => status < 400);
  if (successes.some(isProcessing)) return { trace: 'concurrent, processing' };
  const rejections = responses.filter(({ status }) => status >= 400);
  // The later request may have read the state before or after the first reply.
  if (successes.length > 1)
    throw violation(
      `${request.method} ${request.path} was executed twice: ${JSON.stringify(responses)}`,
    );
  const [response] = successes.length ? successes : rejections;
  return { response: response as ApiResponse, trace: `concurrent: ${response?.status}` };
}

/** Sends a request with an invalid signature, which must be rejected. */
async function sendInvalid(
  sim: Sim,
  request: UnsignedRequest,
  signingRequest: { payloadToSign: string; requestId: string },
  variant: 'other payload' | 'unknown key',
  key: string,
): Promise<void> {
  const isUnknownKey = variant === 'unknown key';
  const payload = isUnknownKey
    ? signingRequest
    : { ...signingRequest, payloadToSign: `${signingRequest.payloadToSign} ` };
  const headers = await signedHeaders(payload, isUnknownKey ? generateClientKeys(sim) : key);
  const options = { headers, withoutKey: !request.hasIdempotencyKey };
  const response = await sim.call(
    request.method,
    request.path,
    request.body,
    request.platform,
    options,
  );
  const code = rejectionCode(response, ['UNAUTHORIZED']);
  if (!code) throw violation(`${request.method} ${request.path} accepts an invalid signature`);
}

/** All steps of a signed request, each after the first in a random variant. */
export async function signRequest(
  sim: Sim,
  request: UnsignedRequest,
  key: string,
  signatureCount = 1,
): Promise<SignedResult> {
  const firstResponse = await sim.call(
    request.method,
    request.path,
    request.body,
    request.platform,
    {
      withoutKey: !request.hasIdempotencyKey,
    },
  );
  let outcome: SignedResult = {
    response: firstResponse,
    trace: `${firstResponse.status} immediately`,
  };
  for (let index = 0; index < signatureCount && outcome.response?.status === 202; index++) {
    outcome = await signStep(sim, request, key, outcome.response);
  }
  return outcome;
}

/** The next step, which signs the payload of the previous reply. */
async function signStep(
  sim: Sim,
  request: UnsignedRequest,
  key: string,
  previousResponse: ApiResponse,
): Promise<SignedResult> {
  const signingRequest = bodyOf(previousResponse, 202);
  const variant = sim.chance.pickWeighted(VARIANTS).name;
  if (variant === 'abandoned') return { trace: variant };
  if (variant === 'other payload' || variant === 'unknown key') {
    await sendInvalid(sim, request, signingRequest, variant, key);
    if (sim.chance.percent(50)) return { trace: variant };
  }
  const headers = await signedHeaders(signingRequest, key);
  if (variant === 'concurrent') return sendTwice(sim, request, headers);
  const outcome = await sendUntilComplete(sim, request, headers);
  if (variant === 'repeated' && outcome.response && outcome.response.status < 400) {
    await repeatRequest(sim, { ...request, body: request.body, headers });
  }
  return { ...outcome, trace: `${variant}: ${outcome.trace}` };
}

/** Repeats a signed request. A used signature has no further effect. */
export async function repeatRequest(sim: Sim, request: Request): Promise<string> {
  const { method, path, body, platform, headers = {} } = request;
  const response = await sim.call(method, path, body, platform, { headers, withoutKey: true });
  const codes = ['UNAUTHORIZED', 'CONFLICT', 'ACCOUNT_NOT_FOUND', 'QUOTE_EXPIRED'];
  const code = rejectionCode(response, codes);
  if (!code) throw violation(`${method} ${path} was executed twice`);
  return code;
}
