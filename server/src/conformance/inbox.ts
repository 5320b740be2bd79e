// Receives messages in place of Railhead: serves `/connectors/NAME`, verifies and validates each
// message as Railhead does, and records every attempt. A check can define the responses to a
// message.
import { createHash, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Message } from '../connectors/ports/providers/protocol.ts';
import { fieldErrors } from '../kernel/contract/validate.ts';
import { verifyRequest } from '../kernel/crypto/http-signatures.ts';
import type { Effects, Time } from '../kernel/effects.ts';
import type { FieldError } from '../kernel/fault.ts';

/** One attempt to deliver a message. */
export interface Attempt {
  readonly at: Time;
  readonly body: string;
  /**
   * The fields of the body, which may be invalid. Empty if the body is not a JSON object or array.
   */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly signatureProblem?: string;
  readonly errors: readonly FieldError[];
  /** Status of the response. 0 if the connection was closed instead. */
  readonly status: number;
}

export type CardDecision = 'APPROVED' | 'DECLINED';

export interface Inbox {
  /** The address for the messages of the adapter. */
  readonly url: string;
  readonly attempts: readonly Attempt[];
  /**
   * Sets the statuses of the responses to a valid message with this state. A used ID with another
   * body receives 409 instead of 200. The last status is repeated. For a deposit, `transferId` is
   * the payment reference and `state` is empty.
   */
  setResponses(transferId: string, state: string, statuses: readonly number[]): void;
  /**
   * Sets the decision about authorizations of a card. Without a decision, the status of the
   * response is 503.
   */
  setDecision(cardId: string, decision: CardDecision): void;
  close(): Promise<void>;
}

const sha256 = (body: string) => createHash('sha256').update(body).digest('hex');

function fieldsOf(body: string): Attempt['fields'] {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Attempt['fields']) : {};
  } catch {
    return {};
  }
}

export const stateOf = ({ fields }: Attempt): string =>
  String((fields.transfer as { state?: unknown } | undefined)?.state ?? '');

const planKey = (transferId: unknown, state: string) => `${transferId} ${state}`;

const REPLIES: Readonly<Record<number, object>> = {
  400: { code: 'INVALID_INPUT', status: 400 },
  401: { code: 'UNAUTHORIZED', status: 401 },
  409: { code: 'CONFLICT', status: 409 },
  429: { code: 'RATE_LIMITED', status: 429 },
  503: { code: 'UNAVAILABLE', status: 503 },
};

interface InboxOptions {
  name: string;
  port: number;
  publicKeys: ReadonlyMap<string, KeyObject>;
}

/** Determines the response to each attempt, and records both. */
function receiver(effects: Effects, publicKeys: InboxOptions['publicKeys'], attempts: Attempt[]) {
  const plans = new Map<string, number[]>();
  const decisions = new Map<unknown, CardDecision>();
  /** Digests of applied messages by ID. */
  const digestsById = new Map<unknown, string>();

  function statusOf(attempt: Omit<Attempt, 'status'>): number {
    if (attempt.signatureProblem !== undefined) return 401;
    if (attempt.errors.length > 0) return 400;
    const { id, transferId, paymentReference, type, cardId } = attempt.fields;
    if (type === 'card.authorization' && !decisions.has(cardId)) return 503;
    const subject = transferId ?? paymentReference;
    const plan = plans.get(planKey(subject, stateOf({ ...attempt, status: 0 })));
    const plannedStatus = plan && plan.length > 1 ? plan.shift() : plan?.[0];
    if (plannedStatus !== undefined && plannedStatus !== 200) return plannedStatus;
    const digest = digestsById.get(id);
    return digest === undefined || digest === sha256(attempt.body) ? 200 : 409;
  }

  /** The field of the reply to an authorization. Empty for other messages. */
  function authorizationReply({ type, cardId, amount, currency }: Attempt['fields']): object {
    if (type !== 'card.authorization') return {};
    const isApproved = decisions.get(cardId) === 'APPROVED';
    const decision = isApproved
      ? { decision: 'APPROVED', approvedAmount: amount }
      : { decision: 'DECLINED', approvedAmount: 0, reason: 'INSUFFICIENT_FUNDS' };
    return { authorization: { ...decision, currency } };
  }

  async function receive(url: string, headers: Record<string, string>, body: string) {
    const fields = fieldsOf(body);
    const errors = fieldErrors(Message, fields, 'body');
    const request = { method: 'POST', url, headers, body };
    const signatureProblem = await verifyRequest(request, publicKeys, effects.now()).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const attemptFields = { at: effects.now(), body, fields, errors };
    const attempt =
      signatureProblem === undefined ? attemptFields : { ...attemptFields, signatureProblem };
    const status = statusOf(attempt);
    attempts.push({ ...attempt, status });
    if (status !== 200) return { status, reply: { ...REPLIES[status], details: { errors } } };
    const result = digestsById.has(fields.id) ? 'DUPLICATE' : 'APPLIED';
    digestsById.set(fields.id, sha256(body));
    return { status, reply: { result, ...authorizationReply(fields) } };
  }

  const setDecision: Inbox['setDecision'] = (cardId, decision) =>
    void decisions.set(cardId, decision);
  const setResponses: Inbox['setResponses'] = (transferId, state, statuses) =>
    void plans.set(planKey(transferId, state), [...statuses]);
  return { receive, setResponses, setDecision };
}

export async function openInbox(
  effects: Effects,
  { name, port, publicKeys }: InboxOptions,
): Promise<Inbox> {
  const attempts: Attempt[] = [];
  const { receive, setResponses, setDecision } = receiver(effects, publicKeys, attempts);
  const path = `/connectors/${name}`;

  const server = http.createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    if (request.url !== path || request.method !== 'POST') {
      return void response.writeHead(404).end();
    }
    const url = `http://${request.headers.host}${path}`;
    const { status, reply } = await receive(url, request.headers as Record<string, string>, body);
    if (status === 0) return void request.socket.destroy();
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 429 ? { 'retry-after': '1' } : {}),
    });
    response.end(JSON.stringify(reply));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    ...{ attempts, setResponses, setDecision },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
