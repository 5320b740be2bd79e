// The effects of the simulator: a clock that only the simulator advances, seeded randomness, and a
// network of receivers inside this process. A seed reproduces a run, because the server has no
// other dependency on the machine.
import type { Effects, HttpReply, HttpRequest } from '../../../src/kernel/effects.ts';
import { seededChance } from './chance.ts';

/** Behavior of a platform's webhook receiver. */
export const BEHAVIORS = [
  'accepts',
  'duplicate',
  'fails',
  'redirects',
  'times out',
  'slow',
  'intermittent',
] as const;
type Behavior = (typeof BEHAVIORS)[number];

/** Reply to an approval request for an incoming UMA payment. */
export const VERDICTS = ['accept', 'pending', 'reject', 'more fields', 'error', 'timeout'] as const;
type Verdict = (typeof VERDICTS)[number];

export interface Receiver {
  readonly url: string;
  behavior: Behavior;
  verdict: Verdict;
  requests: number;
}

export interface SimEffects extends Effects {
  /** Advances the clock by milliseconds. */
  advance(ms: number): void;
  addReceiver(): Receiver;
  /**
   * IDs of events that a receiver has accepted. `applyStep` removes the IDs that it has checked.
   */
  readonly deliveredIds: Set<string>;
}

/** Source of exchange rates for production platforms. */
export const RATES_URL = 'https://rates.example.com/';
const RATES = { EUR: 0.9154, GBP: 0.7871, MXN: 18.25, USDC: 1, INR: 83.1, BTC: 0.0000105 };

/** Time at which the clock of a run begins. */
export const SIM_START = Date.UTC(2026, 0, 5, 9, 0, 0);

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

const REPLY_STATUSES: Record<Exclude<Behavior, 'times out' | 'intermittent'>, number> = {
  accepts: 200,
  duplicate: 409,
  fails: 500,
  redirects: 301,
  slow: 204,
};

const APPROVAL_REPLIES: Record<Exclude<Verdict, 'timeout'>, [number, object]> = {
  accept: [200, { receiverCustomerInfo: { FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-01-15' } }],
  pending: [202, {}],
  reject: [403, { code: 'FORBIDDEN', message: 'No.', reason: 'No.' }],
  'more fields': [422, { requiredFields: [{ name: 'FULL_NAME', mandatory: true }] }],
  error: [500, {}],
};

const reply = (status: number, body: object = {}): HttpReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const connectionError = (code: string) => Object.assign(new Error('no reply'), { code });

/** Whether the event is an approval request: an incoming UMA payment without a decision. */
function isApprovalRequest(type: string, data: Record<string, unknown> | undefined): boolean {
  return (
    type === 'INCOMING_PAYMENT.PENDING' && data?.requestedReceiverCustomerInfoFields !== undefined
  );
}

function replyOf(receiver: Receiver, isApproval: boolean): HttpReply {
  if (isApproval) {
    if (receiver.verdict === 'timeout') throw connectionError('ETIMEDOUT');
    return reply(...APPROVAL_REPLIES[receiver.verdict]);
  }
  const { behavior } = receiver;
  if (behavior === 'times out') throw connectionError('ETIMEDOUT');
  const status =
    behavior === 'intermittent' ? (receiver.requests % 2 ? 200 : 503) : REPLY_STATUSES[behavior];
  return reply(status);
}

export function simEffects(seed: string, start = SIM_START): SimEffects {
  const chance = seededChance(`${seed} server`);
  const receivers = new Map<string, Receiver>();
  const deliveredIds = new Set<string>();
  let now = start;
  return {
    now: () => now,
    random: (count) => chance.bytes(count),
    stream: () => Promise.reject(connectionError('ENOTFOUND')),
    call: () => Promise.reject(connectionError('ENOTFOUND')),
    async http({ url, body }: HttpRequest) {
      if (url === RATES_URL)
        return reply(200, { base: 'USD', at: new Date(now).toISOString(), rates: RATES });
      const receiver = receivers.get(url);
      await tick();
      if (!receiver) throw connectionError('ENOTFOUND');
      receiver.requests++;
      if (receiver.behavior === 'slow') for (let i = 0; i < 20; i++) await tick();
      const { id, type, data } = JSON.parse(body ?? '{}') as {
        id: string;
        type: string;
        data?: Record<string, unknown>;
      };
      const isApproval = isApprovalRequest(type, data);
      const response = replyOf(receiver, isApproval);
      // An approval request counts as delivered regardless of the reply.
      if (isApproval || response.status < 300 || response.status === 409) deliveredIds.add(id);
      return response;
    },
    deliveredIds: deliveredIds,
    advance(ms) {
      now += ms;
    },
    addReceiver() {
      const url = `https://hooks.example.com/${receivers.size + 1}`;
      const newReceiver: Receiver = {
        url,
        behavior: 'accepts',
        verdict: 'accept',
        requests: 0,
      };
      receivers.set(url, newReceiver);
      return newReceiver;
    },
  };
}
