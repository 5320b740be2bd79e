// Messages of the simulated bank. They can be late, reordered, repeated, lost, malformed, wrongly
// signed, or interrupted by a crash of the server. A message without a final response is sent
// again.
import { iso } from '../../../src/kernel/effects.ts';
import type { Chance } from '../harness/chance.ts';
import { BANK, type Installation } from './installation.ts';

const MINUTE = 60_000;
const LONGEST_DELAY_MINUTES = 30 * 60;

interface Message {
  id: string;
  fields: object;
  /** Statuses that end the attempts. */
  final: readonly number[];
  dueAt: number;
  /** Further deliveries after the first final one. */
  repetitions: number;
  /** Called once, after the first final response. */
  onDone?: (() => void) | undefined;
}

export interface OutboxDeps {
  installation: Installation;
  chance: Chance;
  add(fault: string): void;
  violations: string[];
}

/** Parts of a signed request. A change of any part makes the signature invalid. */
const FORGERIES = ['body', 'signature', 'host', 'time'] as const;

export function createOutbox({ installation, chance, add, violations }: OutboxDeps) {
  const { adapter, app, faults, write } = installation;
  const messages: Message[] = [];
  let messageCount = 0;
  let nextKey: { activate(): void; activatedAt: number } | undefined;

  async function forge(fields: object): Promise<void> {
    const now = app.effects.now();
    const forgery = chance.pick(FORGERIES);
    const { status } = await adapter.send(BANK, fields, (request) => {
      if (forgery === 'body') request.body = request.body.replace('"type"', '"type" ');
      if (forgery === 'signature') delete request.headers.signature;
      if (forgery === 'host') request.headers.host = 'other.example';
      if (forgery === 'time') app.effects.set(now + 400_000);
    });
    app.effects.set(now);
    if (status !== 401)
      violations.push(`a forged ${forgery} of a message returned ${status}, not 401`);
    add('forged messages');
  }

  /** Whether the key of the bank has expired before the bank uses the next key. */
  const isKeyExpired = (status: number) => status === 401 && nextKey !== undefined;

  async function sendMalformed(fields: object): Promise<void> {
    const invalidBody = chance.pick(['{"id":', { ...fields, type: 'x' }, { ...fields, id: 7 }]);
    const { status } = await adapter.send(BANK, invalidBody);
    // The signature is verified before the body.
    const isRejected = status === 400 || isKeyExpired(status);
    if (!isRejected) violations.push(`a malformed message returned ${status}, not 400`);
    add('malformed messages');
  }

  function activateKey(isForced: boolean): void {
    if (!nextKey || (!isForced && app.effects.now() < nextKey.activatedAt)) return;
    nextKey.activate();
    nextKey = undefined;
  }

  async function deliver(message: Message): Promise<void> {
    const fields = { id: message.id, ...message.fields };
    activateKey(false);
    if (chance.percent(6)) await forge(fields);
    if (chance.percent(4)) await sendMalformed(fields);
    if (chance.percent(4)) {
      add('crashes of the server');
      faults.crash = chance.pick(['before', 'after']);
    }
    const { status, body } = await adapter.send(BANK, fields);
    faults.crash = undefined;
    if (status === 409) add('contradictory messages');
    if (status >= 500 || isKeyExpired(status)) return;
    if (!message.final.includes(status)) {
      violations.push(`${JSON.stringify(fields)} returned ${status} ${JSON.stringify(body)}`);
    }
    message.onDone?.();
    message.onDone = undefined;
    if (message.repetitions-- === 0) messages.splice(messages.indexOf(message), 1);
  }

  return {
    deliverSome: () => deliverDue(false),
    add(fields: object, options: Pick<Message, 'final' | 'onDone'>): void {
      messageCount += 1;
      messages.push({
        ...{ id: `message-${messageCount}`, ...options },
        fields: { occurredAt: iso(app.effects.now()), ...fields },
        dueAt: app.effects.now() + chance.integerBelow(LONGEST_DELAY_MINUTES) * MINUTE,
        repetitions: chance.integerBelow(3),
      });
    },
    /** Sends a message immediately, with a valid key, and again after a crash of the server. */
    async send(fields: object) {
      activateKey(true);
      const reply = await adapter.send(BANK, fields);
      return reply.status === 500 ? adapter.send(BANK, fields) : reply;
    },
    /** Delivers all messages in a random order. */
    async deliverAll(): Promise<void> {
      activateKey(true);
      await deliverDue(true);
    },
    /** Adds a key of the bank, which signs its messages after a random delay. */
    async renewKey(): Promise<void> {
      const { providerKeys } = await installation.read(`/providers/${BANK}`);
      if (nextKey || providerKeys.length > 2) return;
      const { publicKeyPem, activate } = adapter.newKey();
      await write('POST', `/providers/${BANK}/keys`, { publicKeyPem, overlapHours: 1 });
      const activatedAt = app.effects.now() + chance.integerBelow(120) * MINUTE;
      nextKey = { activate, activatedAt };
      add('keys of the bank');
    },
  };

  /** Delivers the messages that are due, or all, in a random order. */
  async function deliverDue(isAll: boolean): Promise<void> {
    const now = app.effects.now();
    for (;;) {
      const dueMessages = messages.filter(({ dueAt }) => isAll || dueAt <= now);
      const message = dueMessages[chance.integerBelow(Math.max(dueMessages.length, 1))];
      if (!message) return;
      await deliver(message);
      if (!isAll && chance.integerBelow(3) === 0) return;
    }
  }
}

export type Outbox = ReturnType<typeof createOutbox>;
