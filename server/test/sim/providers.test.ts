// Random days with a simulated bank behind the protocol for providers: late, repeated, reordered, lost and
// contradictory messages, wrong signatures, lost and invalid replies, outages and rotated keys. After each
// day every payment has the state that the bank knows, and every transfer was executed once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runSeed } from '../kit/app/effects.ts';
import { ok, quoteBody } from '../kit/app/fixtures.ts';
import { DAY } from '../kit/app/production.ts';
import { lengthOf } from '../kit/length.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';
import { seededChance } from './harness/chance.ts';

const SEEDS = lengthOf(1, 20);
const STEPS = lengthOf(100, 5_000);
const STEPS_PER_DAY = 50;
/** Payments that are compared after each day; earlier ones do not change any more. */
const CHECKED = 100;
const MINUTE = 60_000;
const BANK = 'simulated-bank';

type State = 'accepted' | 'settled' | 'failed' | 'returned';

interface BankTransfer {
  state: State;
  amount: number;
}

interface Message {
  id: string;
  transferId: string;
  transfer: object;
  /** Time of the next attempt. */
  dueAt: number;
  /** Further deliveries after the first one that was accepted. */
  repetitions: number;
}

const { service, write, read } = operatorService();
let adapter: Adapter;
let payer: { account: string; person: { id: string } };
let payee: string;

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  const provider = await write('POST', '/providers', {
    ...{ providerId: BANK, environment: 'production', url: adapter.url },
    ...{ publicKeyPem: adapter.publicKeyPem, privateAddressAllowed: true },
  });
  adapter.accept(provider.ownKeys);
  await write('POST', `/providers/${BANK}/check`);
  const route = { providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' };
  await write('POST', '/provider-routes', route);
  payer = await service.createPayer('10000000.00');
  payee = await service.createPayee(payer.person.id);
});
afterAll(() => adapter.close());

const REASON = 'ACCOUNT_CANNOT_RECEIVE';
const stateOf = ({ state }: BankTransfer, transferId: string) => {
  if (state === 'settled') return { state, reference: `BANK-${transferId.slice(-12)}` };
  return state === 'accepted' ? { state, checkAfterSeconds: 3_600 } : { state, reason: REASON };
};

/** The status of a payment whose transfer has this state, with its refund and failure reason. */
const EXPECTED: Record<State, string> = {
  accepted: 'PROCESSING - -',
  settled: 'COMPLETED - -',
  failed: `FAILED COMPLETED ${REASON}`,
  returned: `FAILED COMPLETED ${REASON}`,
};

function simulatedBank(seed: string) {
  const chance = seededChance(seed);
  const transfers = new Map<string, BankTransfer>();
  const messages: Message[] = [];
  const counts = { contradictory: 0, rejected: 0, lostReplies: 0, outages: 0 };
  let isDown = false;
  let messageNumber = 0;

  const reply = (transferId: string) => {
    if (chance.percent(10)) {
      counts.lostReplies++;
      return chance.percent(50) ? null : { body: chance.percent(50) ? '<html>' : {} };
    }
    return { body: stateOf(transfers.get(transferId) as BankTransfer, transferId) };
  };
  adapter.replies['/transfers/send'] = ({ transferId, amount }) => {
    if (isDown || chance.percent(10)) return { status: 503, body: {} };
    if (!transfers.has(transferId)) transfers.set(transferId, { state: 'accepted', amount });
    return reply(transferId);
  };
  adapter.replies['/transfers/state'] = ({ transferId }) => {
    if (isDown || chance.percent(10)) return { status: 503, body: {} };
    return transfers.has(transferId) ? reply(transferId) : { status: 404, body: {} };
  };

  function report(transferId: string, transfer: BankTransfer) {
    // A lost message is learned by polling, except a return: a settled transfer is not polled.
    if (transfer.state !== 'returned' && chance.percent(15)) return;
    messages.push({
      ...{ id: `${seed}-${messageNumber++}`, transferId, transfer: stateOf(transfer, transferId) },
      dueAt: service.app.effects.now() + chance.integerBelow(36 * 60) * MINUTE,
      repetitions: chance.integerBelow(3),
    });
  }

  /** The bank executes, fails or returns one of its recent transfers. */
  function act(): void {
    const open = [...transfers]
      .slice(-CHECKED)
      .filter(([, { state }]) => state === 'accepted' || state === 'settled');
    const [transferId, transfer] = open[chance.integerBelow(Math.max(open.length, 1))] ?? [];
    if (!transferId || !transfer) return;
    if (transfer.state === 'accepted') {
      transfer.state = chance.percent(75) ? 'settled' : 'failed';
    } else if (chance.percent(10)) transfer.state = 'returned';
    else return;
    report(transferId, transfer);
  }

  async function deliver(message: Message): Promise<void> {
    const { id, transferId, transfer } = message;
    const fields = { id, type: 'transfer.updated', transferId, transfer };
    if (chance.percent(10)) {
      const forged = await adapter.send(BANK, fields, (request) => {
        request.body = request.body.replace(transferId, `${transferId}x`);
      });
      expect(forged.status).toBe(401);
      counts.rejected++;
      return;
    }
    const { status, body } = await adapter.send(BANK, fields);
    expect([200, 409], JSON.stringify(body)).toContain(status);
    if (status === 409) counts.contradictory++;
    if (message.repetitions-- === 0) messages.splice(messages.indexOf(message), 1);
  }

  return {
    ...{ transfers, counts, chance, act },
    /** Delivers the messages that are due, or all, in a random order. */
    async deliverDue(isAll = false): Promise<void> {
      const now = service.app.effects.now();
      for (let due: Message[]; ; ) {
        due = messages.filter(({ dueAt }) => isAll || dueAt <= now);
        const message = due[chance.integerBelow(Math.max(due.length, 1))];
        if (!message) return;
        await deliver(message);
        if (!isAll && chance.integerBelow(3) === 0) return;
      }
    },
    /** A message that disagrees with what is known, about a payment with a final state. */
    async contradict(): Promise<void> {
      const [transferId, transfer] =
        [...transfers][chance.integerBelow(Math.max(transfers.size, 1))] ?? [];
      if (!transferId || !transfer) return;
      const before = await service.readStatus(transferId);
      if (before.startsWith('PROCESSING')) return;
      const isCompleted = before.startsWith('COMPLETED');
      const wrong = isCompleted
        ? { state: 'failed', reason: REASON }
        : { state: 'settled', reference: 'BANK-X' };
      const id = `${seed}-false-${messageNumber++}`;
      const fields = { id, type: 'transfer.updated', transferId, transfer: wrong };
      expect((await adapter.send(BANK, fields)).status).toBe(409);
      expect(await service.readStatus(transferId)).toBe(before);
      counts.contradictory++;
    },
    switchOutage(): void {
      isDown = !isDown;
      if (isDown) counts.outages++;
    },
    end(): void {
      isDown = false;
    },
  };
}

async function pay(amount: number): Promise<string> {
  const body = quoteBody(payer.account, payee, amount);
  const quote = ok(await service.app.call('POST', '/quotes', body, service.as), 201);
  const url = `/quotes/${quote.id}/execute`;
  const headers = { 'idempotency-key': quote.id };
  ok(await service.app.call('POST', url, undefined, { ...service.as, headers }), 200);
  await service.app.settle();
  return quote.transactionId;
}

/** A payment that was never sent waits for an operator, because the bank was unavailable. */
async function settleManually(id: string): Promise<State> {
  if ((await service.readStatus(id)).startsWith('PROCESSING')) {
    expect(await service.readQueue(id)).toHaveLength(1);
    await service.runJson('payouts', 'settle', id);
  }
  return 'settled';
}

async function rotateKey(): Promise<void> {
  const provider = await read(`/providers/${BANK}`);
  if (provider.ownKeys.length > 2) return;
  const body = { overlapHours: 1 };
  adapter.accept((await write('POST', `/providers/${BANK}/rotate`, body)).ownKeys);
}

it.each(Array.from({ length: SEEDS }, (_, index) => `${runSeed()}-${index}`))(
  'ties after each day, seed %s',
  async (seed) => {
    const bank = simulatedBank(seed);
    const { chance } = bank;
    const payments: string[] = [];
    const actions: { weight: number; act(): unknown }[] = [
      { weight: 25, act: async () => payments.push(await pay(1_00 + chance.integerBelow(500_00))) },
      { weight: 25, act: bank.act },
      { weight: 25, act: () => bank.deliverDue() },
      { weight: 15, act: () => service.app.advance(chance.integerBelow(120) * MINUTE) },
      { weight: 6, act: bank.contradict },
      { weight: 3, act: bank.switchOutage },
      { weight: 1, act: rotateKey },
    ];
    for (let step = 1; step <= STEPS; step++) {
      await chance.pickWeighted(actions).act();
      if (step % STEPS_PER_DAY > 0) continue;
      bank.end();
      await service.app.advance(DAY);
      await bank.deliverDue(true);
      // What the last polls and messages caused.
      await service.app.advance(DAY);
      for (const id of payments.slice(-CHECKED)) {
        const expected = bank.transfers.get(id)?.state ?? (await settleManually(id));
        const status = await service.readStatus(id);
        expect({ step, id, status }).toEqual({ step, id, status: EXPECTED[expected] });
      }
    }
    const sent = new Set(payments);
    expect([...bank.transfers.keys()].filter((id) => !sent.has(id))).toEqual([]);
    expect(bank.counts.lostReplies).toBeGreaterThan(0);
    expect(bank.counts.contradictory).toBeGreaterThan(0);
    const listed = await read('/provider-messages?result=CONTRADICTORY&limit=100');
    expect(listed.data.length).toBeGreaterThan(0);
  },
  lengthOf(600_000, 14_400_000),
);
