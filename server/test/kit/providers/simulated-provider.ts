// A correct adapter of a provider, and variations of it with one fault each. The state of an
// adapter is independent of its HTTP server, so that a test can kill and restart the adapter.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type SignatureKey,
  signRequest,
  verifyRequest,
} from '../../../src/kernel/crypto/http-signatures.ts';
import { pemOf } from '../../../src/runtime/security/keys.ts';

import { SERVICE_CAPABILITIES, SERVICE_FAULTS, servicesOf } from './simulated-services.ts';

// biome-ignore lint/suspicious/noExplicitAny: faults produce invalid bodies.
type Json = any;

/** The faults, each with the check that detects it. */
export const FAULTS = {
  'executes a repeated transfer again': 'transfers.repeat',
  'executes concurrent calls separately': 'transfers.concurrent',
  'does not store a call whose connection closed': 'transfers.disconnect',
  'rejects unknown fields': 'transfers.unknown-fields',
  'returns a state of unknown transfers': 'transfers.unknown',
  'accepts unsigned calls': 'signatures.missing',
  'accepts a wrong signature': 'signatures.altered',
  'accepts an old signature': 'signatures.expired',
  'ignores the digest': 'signatures.digest',
  'verifies with the key of the call': 'signatures.unknown-key',
  'settles after a failure': 'outcomes.final',
  'omits the reason of a failure': 'outcomes.failed',
  'reports no return': 'outcomes.returned',
  'executes a canceled transfer': 'cancel.resend',
  'does not repeat messages': 'messages.repeated',
  'uses a new ID for each attempt': 'messages.same-id',
  'repeats messages after a final response': 'messages.final-responses',
  'sends unsigned messages': 'messages.signed',
  'reports decimal amounts': 'messages.valid',
  'reports another currency': 'messages.amounts',
  'uses an ID for several messages': 'messages.unique-ids',
  'loses its transfers in a crash': 'restart.transfers',
  'loses its messages in a crash': 'restart.messages',
  'accepts one key only': 'rotation.next-key',
  'retires a key early': 'rotation.current-key',
  'ignores the ID of the key': 'rotation.key-of-id',
  ...SERVICE_FAULTS,
} as const;
export type Fault = keyof typeof FAULTS;

interface Payment {
  transfer: Json;
  state: Json;
  next: Json[];
}

interface Options {
  key: SignatureKey;
  /** The key of Railhead, and the next key. */
  railhead: SignatureKey;
  next?: SignatureKey;
  /** Address of the messages. */
  inbox: string;
  fault?: Fault;
}

const STEP_MS = 40;
/** Longer than the time after which the conformance kit aborts a call, also on a busy machine. */
const LONG_MS = 300;

const SETTLED = 'settled';

/** Returns the states of a transfer after its acceptance. */
function resultsOf(text: string, reference: string, fault?: Fault): Json[] {
  const settledResult = { state: SETTLED, reference };
  const reason = 'ACCOUNT_INVALID';
  const failedResult =
    fault === 'omits the reason of a failure' ? { state: 'failed' } : { state: 'failed', reason };
  if (text === 'TEST HELD') return [];
  if (text === 'TEST FAILED') {
    return fault === 'settles after a failure' ? [failedResult, settledResult] : [failedResult];
  }
  if (text !== 'TEST RETURNED') return [settledResult];
  return fault === 'reports no return'
    ? [settledResult]
    : [settledResult, { state: 'returned', reason }];
}

/** The transfers of the provider and their executions. */
function paymentsOf(payments: Map<string, Payment>, fault?: Fault) {
  let executionCount = 0;
  /** All executions. A correct adapter has one per transfer. */
  const executions: Payment[] = [];
  /** Transfers whose calls a fault does not store. */
  const unstoredIds = new Set<string>();
  function pay(transfer: Json): Payment {
    const reference = `BANK-${++executionCount}`;
    const next = resultsOf(transfer.remittanceInformation, reference, fault);
    const payment = { transfer, state: { state: 'accepted', reference }, next };
    payments.set(transfer.transferId, payment);
    executions.push(payment);
    return payment;
  }
  async function send(transfer: Json): Promise<Json> {
    if (fault === 'rejects unknown fields' && 'newField' in transfer) return { status: 400 };
    const existingPayment = payments.get(transfer.transferId);
    if (fault === 'executes concurrent calls separately') await sleep(LONG_MS);
    const isExecutedAgain =
      fault === 'executes a repeated transfer again' ||
      unstoredIds.delete(transfer.transferId) ||
      (fault === 'executes a canceled transfer' && existingPayment?.state.state === 'canceled');
    return (existingPayment && !isExecutedAgain ? existingPayment : pay(transfer)).state;
  }
  function state({ transferId }: Json): Json {
    const existingState = payments.get(transferId)?.state;
    return (
      existingState ??
      (fault === 'returns a state of unknown transfers' ? { state: 'unknown' } : undefined)
    );
  }
  function cancel({ transferId }: Json): Json {
    const payment = payments.get(transferId);
    if (!payment) return undefined;
    if (payment.state.state === 'canceled') return { result: 'canceled' };
    if (payment.state.state !== 'accepted' || payment.next.length > 0)
      return { result: 'rejected' };
    payment.state = { state: 'canceled' };
    return { result: 'canceled' };
  }
  return { executions, unstoredIds, send, state, cancel };
}

/** Verifies the signature of a call. A fault accepts invalid signatures. */
async function isAccepted(request: Json, keys: Map<string, KeyObject>, fault?: Fault) {
  try {
    const { keyId } = await verifyRequest(request, keys, Date.now());
    const [currentKey] = [...keys.keys()];
    if (fault === 'retires a key early' && currentKey && keyId !== currentKey)
      keys.delete(currentKey);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const acceptedErrors: Partial<Record<Fault, RegExp>> = {
      'accepts unsigned calls': /no signature|Content-Digest is missing/,
      'accepts a wrong signature': /does not match/,
      'ignores the ID of the key': /does not match/,
      'accepts an old signature': /too old/,
      'ignores the digest': /is not the SHA-256 digest/,
      'verifies with the key of the call': /is not known/,
    };
    return fault !== undefined && acceptedErrors[fault]?.test(message) === true;
  }
}

/** The messages of the provider, each repeated until its response is final. */
function messagesTo({ inbox, key, fault }: Options) {
  const outbox: Json[] = [];
  const callbacks = new Map<string, (reply: Json) => void>();
  let attempts = 0;

  function add({ transfer }: Payment, state: Json): void {
    const { transferId, amount, currency } = transfer;
    const isShared = fault === 'uses an ID for several messages';
    outbox.push({
      id: isShared ? 'message-1' : `${transferId}/${state.state}`,
      ...{ occurredAt: new Date().toISOString(), type: 'transfer.updated', transferId },
      transfer: state,
      amount: fault === 'reports decimal amounts' ? amount / 100 : amount,
      currency: fault === 'reports another currency' ? 'USD' : currency,
    });
  }
  /**
   * A message with `onReply` is sent once. `onReply` receives the body of a successful response.
   */
  function report(message: Json, onReply?: (reply: Json) => void): void {
    outbox.push({ occurredAt: new Date().toISOString(), ...message });
    if (onReply) callbacks.set(message.id, onReply);
  }
  async function deliver(message: Json): Promise<void> {
    const isRenamed = fault === 'uses a new ID for each attempt';
    const sentMessage = isRenamed ? { ...message, id: `${message.id}/${++attempts}` } : message;
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', url: inbox, headers, body: JSON.stringify(sentMessage) };
    const signedRequest = await signRequest(key, request, Date.now());
    const isSigned = fault !== 'sends unsigned messages';
    const reply = await fetch(inbox, {
      ...request,
      headers: isSigned ? signedRequest : headers,
    }).catch(() => undefined);
    const isFinal = [200, 400, 409].includes(reply?.status ?? 0);
    const isDone =
      fault === 'repeats messages after a final response'
        ? false
        : isFinal || fault === 'does not repeat messages';
    const onReply = callbacks.get(message.id);
    if (isDone || onReply) outbox.splice(outbox.indexOf(message), 1);
    callbacks.delete(message.id);
    onReply?.(reply?.ok ? await reply.json() : undefined);
  }
  return { outbox, add, report, deliverAll: () => Promise.all([...outbox].map(deliver)) };
}

/** Creates the adapter. `start` returns its address. */
export function simulatedProvider(options: Options) {
  const { fault } = options;
  const payments = new Map<string, Payment>();
  const { executions, unstoredIds, send, state, cancel } = paymentsOf(payments, fault);
  const messages = messagesTo(options);
  const acceptedKeys = [options.railhead, ...(options.next ? [options.next] : [])];
  const keys = new Map(
    acceptedKeys
      .slice(0, fault === 'accepts one key only' ? 1 : 2)
      .map((key) => [key.keyId, createPublicKey(pemOf(key.privateKey))]),
  );
  const services = servicesOf({
    fault,
    report: messages.report,
    paymentOf: (transferId) => payments.get(transferId),
  });
  const capability = { kinds: ['payout'], rails: ['SEPA'], currencies: ['EUR'] };
  const calls: Record<string, (body: Json) => Json> = {
    ...services.calls,
    '/capabilities': () => ({
      ...{ protocol: '1', transfers: [capability], cancel: true, ...SERVICE_CAPABILITIES },
    }),
    '/transfers/send'(transfer) {
      const isNew = !payments.has(transfer.transferId);
      if (isNew && transfer.remittanceInformation === 'TEST DEPOSIT') services.receive(transfer);
      return send(transfer);
    },
    '/transfers/state': state,
    '/transfers/cancel': cancel,
  };
  let server: http.Server | undefined;
  let lastStep: Promise<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let port = 0;

  async function respond(request: http.IncomingMessage, response: http.ServerResponse) {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = '', url: path = '', headers } = request;
    const signedRequest = { method, url: `http://${headers.host}${path}`, headers, body };
    const isSigned = await isAccepted(signedRequest, keys, fault);
    if (!isSigned) return void response.writeHead(401).end();
    const input = parseBody(body);
    if (input === undefined) return void response.writeHead(400).end();
    const output = await calls[path]?.(input);
    if (fault === 'does not store a call whose connection closed' && path === '/transfers/send') {
      const discard = () => {
        if (!response.writableFinished) unstoredIds.add(input.transferId);
      };
      // The connection can also have closed while the signature was verified.
      if (response.closed) discard();
      else response.once('close', discard);
      await sleep(LONG_MS);
    }
    response.writeHead(output?.status ?? (output ? 200 : 404)).end(JSON.stringify(output ?? {}));
  }
  async function step() {
    for (const payment of executions) {
      const next = payment.next.shift();
      if (!next) continue;
      payment.state = next;
      messages.add(payment, next);
    }
    await messages.deliverAll();
  }

  return {
    async start(): Promise<string> {
      server = http.createServer((request, response) => void respond(request, response));
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
      const repeat = async () => {
        lastStep = step();
        await lastStep;
        if (timer) timer = setTimeout(repeat, STEP_MS);
      };
      timer = setTimeout(repeat, STEP_MS);
      return `http://127.0.0.1:${port}`;
    },
    async kill(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
      // A step that continued would add messages and repeat itself after the restart.
      await lastStep;
      if (fault === 'loses its transfers in a crash') payments.clear();
      if (fault === 'loses its messages in a crash') messages.outbox.length = 0;
    },
  };
}

function parseBody(body: string): Json {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
