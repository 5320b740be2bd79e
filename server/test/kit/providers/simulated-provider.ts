// A correct adapter of a provider, and small variations of it, each with one fault. It keeps its state
// outside of its server, so that a test can end it and start it again.
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

// biome-ignore lint/suspicious/noExplicitAny: bodies are what a fault makes of them.
type Json = any;

/** The faults, each with the check that finds it. */
export const FAULTS = {
  'pays a repeated transfer again': 'transfers.repeat',
  'decides after a pause': 'transfers.concurrent',
  'forgets a call whose connection ended': 'transfers.hang-up',
  'rejects unknown fields': 'transfers.unknown-fields',
  'knows every transfer': 'transfers.unknown',
  'accepts unsigned calls': 'signatures.missing',
  'accepts a wrong signature': 'signatures.altered',
  'accepts an old signature': 'signatures.expired',
  'ignores the digest': 'signatures.digest',
  'trusts the key of the call': 'signatures.unknown-key',
  'settles after a failure': 'outcomes.final',
  'omits the reason of a failure': 'outcomes.failed',
  'reports no return': 'outcomes.returned',
  'pays a canceled transfer': 'cancel.sent-again',
  'sends a message once': 'messages.repeated',
  'uses a new ID for each attempt': 'messages.same-id',
  'sends after a final response': 'messages.final-answers',
  'sends unsigned messages': 'messages.signed',
  'reports decimal amounts': 'messages.valid',
  'reports another currency': 'messages.amounts',
  'uses an ID for several messages': 'messages.unique-ids',
  'forgets everything when it ends': 'restart.transfers',
  'forgets its messages when it ends': 'restart.messages',
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
  /** The key of Railhead, and the one that follows it. */
  railhead: SignatureKey;
  next?: SignatureKey;
  /** Address of the messages. */
  inbox: string;
  fault?: Fault;
}

const STEP_MS = 40;
/** Longer than the pause before the conformance kit ends a connection, also on a busy machine. */
const LONG_MS = 300;

const SETTLED = 'settled';

/** The states after the acceptance of a transfer. */
function resultsOf(text: string, reference: string, fault?: Fault): Json[] {
  const settled = { state: SETTLED, reference };
  const reason = 'ACCOUNT_INVALID';
  const failed =
    fault === 'omits the reason of a failure' ? { state: 'failed' } : { state: 'failed', reason };
  if (text === 'TEST HELD') return [];
  if (text === 'TEST FAILED') {
    return fault === 'settles after a failure' ? [failed, settled] : [failed];
  }
  if (text !== 'TEST RETURNED') return [settled];
  return fault === 'reports no return' ? [settled] : [settled, { state: 'returned', reason }];
}

/** The payments of the provider. */
function paymentsOf(payments: Map<string, Payment>, fault?: Fault) {
  let number = 0;
  /** Every execution, of which there should be one for each transfer. */
  const executions: Payment[] = [];
  /** Transfers that a fault executes again. */
  const forgotten = new Set<string>();
  function pay(transfer: Json): Payment {
    const reference = `BANK-${++number}`;
    const next = resultsOf(transfer.remittanceInformation, reference, fault);
    const payment = { transfer, state: { state: 'accepted', reference }, next };
    payments.set(transfer.transferId, payment);
    executions.push(payment);
    return payment;
  }
  async function send(transfer: Json): Promise<Json> {
    if (fault === 'rejects unknown fields' && 'newField' in transfer) return { status: 400 };
    const known = payments.get(transfer.transferId);
    if (fault === 'decides after a pause') await sleep(LONG_MS);
    const paysAgain =
      fault === 'pays a repeated transfer again' ||
      forgotten.delete(transfer.transferId) ||
      (fault === 'pays a canceled transfer' && known?.state.state === 'canceled');
    return (known && !paysAgain ? known : pay(transfer)).state;
  }
  function state({ transferId }: Json): Json {
    const known = payments.get(transferId)?.state;
    return known ?? (fault === 'knows every transfer' ? { state: 'unknown' } : undefined);
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
  return { executions, forgotten, send, state, cancel };
}

/** Verifies a call; a fault accepts what it should reject. */
async function isAccepted(request: Json, keys: Map<string, KeyObject>, fault?: Fault) {
  try {
    const { keyId } = await verifyRequest(request, keys, Date.now());
    const [current] = [...keys.keys()];
    if (fault === 'retires a key early' && current && keyId !== current) keys.delete(current);
    return true;
  } catch (error) {
    const { message } = error as Error;
    const accepted: Partial<Record<Fault, RegExp>> = {
      'accepts unsigned calls': /no signature|Content-Digest is missing/,
      'accepts a wrong signature': /does not match/,
      'ignores the ID of the key': /does not match/,
      'accepts an old signature': /too old/,
      'ignores the digest': /is not the SHA-256 digest/,
      'trusts the key of the call': /is not known/,
    };
    return fault !== undefined && accepted[fault]?.test(message) === true;
  }
}

/** The messages of the provider, each sent until its response is final. */
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
  /** `answered` gets the body of the response; an authorization is sent once. */
  function report(message: Json, answered?: (reply: Json) => void): void {
    outbox.push({ occurredAt: new Date().toISOString(), ...message });
    if (answered) callbacks.set(message.id, answered);
  }
  async function deliver(message: Json): Promise<void> {
    const isRenamed = fault === 'uses a new ID for each attempt';
    const sent = isRenamed ? { ...message, id: `${message.id}/${++attempts}` } : message;
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', url: inbox, headers, body: JSON.stringify(sent) };
    const signed = await signRequest(key, request, Date.now());
    const isSigned = fault !== 'sends unsigned messages';
    const reply = await fetch(inbox, { ...request, headers: isSigned ? signed : headers }).catch(
      () => undefined,
    );
    const isFinal = [200, 400, 409].includes(reply?.status ?? 0);
    const isDone =
      fault === 'sends after a final response'
        ? false
        : isFinal || fault === 'sends a message once';
    const answered = callbacks.get(message.id);
    if (isDone || answered) outbox.splice(outbox.indexOf(message), 1);
    callbacks.delete(message.id);
    answered?.(reply?.ok ? await reply.json() : undefined);
  }
  return { outbox, add, report, deliverAll: () => Promise.all([...outbox].map(deliver)) };
}

/** Creates the adapter; `start` serves it at the address that it returns. */
export function simulatedProvider(options: Options) {
  const { fault } = options;
  const payments = new Map<string, Payment>();
  const { executions, forgotten, send, state, cancel } = paymentsOf(payments, fault);
  const messages = messagesTo(options);
  const accepted = [options.railhead, ...(options.next ? [options.next] : [])];
  const keys = new Map(
    accepted
      .slice(0, fault === 'accepts one key only' ? 1 : 2)
      .map((each) => [each.keyId, createPublicKey(pemOf(each.privateKey))]),
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
  let timer: NodeJS.Timeout | undefined;
  let port = 0;

  async function answer(request: http.IncomingMessage, response: http.ServerResponse) {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = '', url: path = '', headers } = request;
    const signed = { method, url: `http://${headers.host}${path}`, headers, body };
    const isSigned = await isAccepted(signed, keys, fault);
    if (!isSigned) return void response.writeHead(401).end();
    const input = parsed(body);
    if (input === undefined) return void response.writeHead(400).end();
    const output = await calls[path]?.(input);
    if (fault === 'forgets a call whose connection ended' && path === '/transfers/send') {
      response.once('close', () => {
        if (!response.writableFinished) forgotten.add(input.transferId);
      });
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
      server = http.createServer((request, response) => void answer(request, response));
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
      const again = async () => {
        await step();
        if (timer) timer = setTimeout(again, STEP_MS);
      };
      timer = setTimeout(again, STEP_MS);
      return `http://127.0.0.1:${port}`;
    },
    async kill(): Promise<void> {
      clearTimeout(timer);
      timer = undefined;
      server?.closeAllConnections();
      await new Promise((resolve) => server?.close(resolve));
      if (fault === 'forgets everything when it ends') payments.clear();
      if (fault === 'forgets its messages when it ends') messages.outbox.length = 0;
    },
  };
}

function parsed(body: string): Json {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
