// The simulator's World: a clock that moves only when told, chance from the seed, and a network that ends
// in receivers inside this process. Nothing the server meets here depends on the machine, so a run can be
// repeated by its seed.
import type { Effects, HttpReply, HttpRequest } from '../../../src/kernel/effects.ts';
import { chanceOf } from './chance.ts';

/** What a platform's receiver does with whatever it is sent. */
export const MOODS = ['well', 'known', 'broken', 'moved', 'silent', 'slow', 'fickle'] as const;
type Mood = (typeof MOODS)[number];

/** What it answers when it is asked whether its customer may be paid. */
export const VERDICTS = ['accept', 'later', 'reject', 'more', 'broken', 'silent'] as const;
type Verdict = (typeof VERDICTS)[number];

export interface Receiver {
  readonly url: string;
  mood: Mood;
  verdict: Verdict;
  requests: number;
}

export interface SimWorld extends Effects {
  /** Moves the clock on. Milliseconds. */
  pass(ms: number): void;
  receiver(): Receiver;
  /** Events that some receiver has said yes to. Emptied by whoever checks them. */
  readonly heard: Set<string>;
}

/** Where production platforms get their rates. */
export const RATES_URL = 'https://rates.example.com/';
const RATES = { EUR: 0.9154, GBP: 0.7871, MXN: 18.25, USDC: 1, INR: 83.1, BTC: 0.0000105 };

const START = Date.UTC(2026, 0, 5, 9, 0, 0);

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

const STATUS: Record<Exclude<Mood, 'silent' | 'fickle'>, number> = {
  well: 200,
  known: 409,
  broken: 500,
  moved: 301,
  slow: 204,
};

const APPROVAL: Record<Exclude<Verdict, 'silent'>, [number, object]> = {
  accept: [200, { receiverCustomerInfo: { FULL_NAME: 'Ada Lovelace', BIRTH_DATE: '1990-01-15' } }],
  later: [202, {}],
  reject: [403, { code: 'FORBIDDEN', message: 'No.', reason: 'No.' }],
  more: [422, { requiredFields: [{ name: 'FULL_NAME', mandatory: true }] }],
  broken: [500, {}],
};

const reply = (status: number, body: object = {}): HttpReply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const noAnswer = (code: string) => Object.assign(new Error('no answer came'), { code });

/** Whether the sender waits for an answer that decides: a payment over UMA that nobody has accepted. */
function isQuestion(type: string, data: Record<string, unknown> | undefined): boolean {
  return (
    type === 'INCOMING_PAYMENT.PENDING' && data?.requestedReceiverCustomerInfoFields !== undefined
  );
}

function answerOf(receiver: Receiver, question: boolean): HttpReply {
  if (question) {
    if (receiver.verdict === 'silent') throw noAnswer('ETIMEDOUT');
    return reply(...APPROVAL[receiver.verdict]);
  }
  const { mood } = receiver;
  if (mood === 'silent') throw noAnswer('ETIMEDOUT');
  const status = mood === 'fickle' ? (receiver.requests % 2 ? 200 : 503) : STATUS[mood];
  return reply(status);
}

export function simWorld(seed: string, start = START): SimWorld {
  const chance = chanceOf(`${seed} server`);
  const receivers = new Map<string, Receiver>();
  const heard = new Set<string>();
  let now = start;
  return {
    now: () => now,
    random: (count) => chance.bytes(count),
    stream: () => Promise.reject(noAnswer('ENOTFOUND')),
    call: () => Promise.reject(noAnswer('ENOTFOUND')),
    async http({ url, body }: HttpRequest) {
      if (url === RATES_URL)
        return reply(200, { base: 'USD', at: new Date(now).toISOString(), rates: RATES });
      const receiver = receivers.get(url);
      await tick();
      if (!receiver) throw noAnswer('ENOTFOUND');
      receiver.requests++;
      if (receiver.mood === 'slow') for (let i = 0; i < 20; i++) await tick();
      const { id, type, data } = JSON.parse(body ?? '{}') as {
        id: string;
        type: string;
        data?: Record<string, unknown>;
      };
      const question = isQuestion(type, data);
      const answer = answerOf(receiver, question);
      // A question was heard whatever the answer is.
      if (question || answer.status < 300 || answer.status === 409) heard.add(id);
      return answer;
    },
    heard,
    pass(ms) {
      now += ms;
    },
    receiver() {
      const url = `https://hooks.example.com/${receivers.size + 1}`;
      const fresh: Receiver = {
        url,
        mood: 'well',
        verdict: 'accept',
        requests: 0,
      };
      receivers.set(url, fresh);
      return fresh;
    },
  };
}
