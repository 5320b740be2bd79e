// Events of a payment: the documented order, the balance after each posting, and the resource as data.
import { beforeEach, describe, expect, it } from 'vitest';
import type { EmittedEvent } from '../../../../test/kit/app/effects.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';

const app = testApp();
let options: { platform: TestPlatform };
let platformAccount: string;
beforeEach(async () => {
  options = { platform: await app.newPlatform('Listener') };
  platformAccount = (await findInternalAccount(app, null, 'USD', options)).id;
  await fundAccount(app, platformAccount, 10_00, options);
});

const FEE = {
  platformFeeOverride: {
    platformFixedFee: { amount: 50, currency: 'USD' },
    platformVariableFeeBps: 30,
  },
};

/** An event as one line: its type, or the account with its available and total balance. */
function summarizeEvent(
  { type, subject, balance, held }: EmittedEvent,
  names: Record<string, string>,
): string {
  if (type !== 'INTERNAL_ACCOUNT.BALANCE_UPDATED') return type.replace('_PAYMENT', '');
  const [total, heldAmount] = [Number(balance), Number(held)];
  return `${names[subject] ?? subject} ${total - heldAmount}/${total}`;
}

/** Runs `work` and returns the events that it emitted. */
async function captureEvents(names: Record<string, string>, work: () => Promise<unknown>) {
  const eventCountBefore = (await app.events()).length;
  await work();
  const events = (await app.events()).slice(eventCountBefore);
  return {
    events,
    lines: events.map((each) => summarizeEvent(each, { [platformAccount]: 'platform', ...names })),
  };
}

async function pay(suffix: string) {
  const { person, account } = await createFundedCustomer(app, 1_000_00, options);
  const target = await createExternalAccount(app, person.id, 'EUR', suffix, options);
  const body = quoteBody(account.id, target.id, 100_00, FEE);
  const quote = ok(await app.call('POST', '/quotes', body, options), 201);
  const path = `/transactions/${quote.transactionId}`;
  const emittedEvents = await captureEvents({ [account.id]: 'payer' }, async () => {
    app.effects.set(app.effects.now() + 1_000);
    ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, options), 200);
    app.effects.set(app.effects.now() + 1_000);
    await app.advance(7 * 60_000);
  });
  const transaction = ok(await app.call('GET', path, undefined, options), 200);
  return { ...emittedEvents, transaction, account: account.id as string };
}

const STARTED_EVENTS = ['OUTGOING.PENDING', 'payer 90000/100000', 'OUTGOING.PROCESSING'];
const SUBMITTED_EVENTS = ['payer 90000/90000', 'platform 1080/1080'];
const REFUNDED_EVENTS = ['payer 100000/100000', 'platform 1000/1000'];
const FAILED_EVENTS = ['OUTGOING.FAILED', 'OUTGOING.REFUND_PENDING'];

describe('payout', () => {
  it.each<[string, string, string[]]>([
    ['000', 'arrives', [...STARTED_EVENTS, ...SUBMITTED_EVENTS, 'OUTGOING.COMPLETED']],
    [
      '002',
      'fails before submission',
      [...STARTED_EVENTS, ...FAILED_EVENTS, 'payer 100000/100000', 'OUTGOING.REFUND_COMPLETED'],
    ],
    ['003', 'arrives late', [...STARTED_EVENTS, ...SUBMITTED_EVENTS, 'OUTGOING.COMPLETED']],
    [
      '004',
      'fails after submission',
      [
        ...STARTED_EVENTS,
        ...SUBMITTED_EVENTS,
        ...FAILED_EVENTS,
        ...REFUNDED_EVENTS,
        'OUTGOING.REFUND_COMPLETED',
      ],
    ],
    [
      '005',
      'is returned',
      [
        ...STARTED_EVENTS,
        ...SUBMITTED_EVENTS,
        'OUTGOING.COMPLETED',
        ...FAILED_EVENTS,
        ...REFUNDED_EVENTS,
        'OUTGOING.REFUND_COMPLETED',
      ],
    ],
    [
      '006',
      'is canceled',
      [
        ...STARTED_EVENTS,
        ...SUBMITTED_EVENTS,
        'OUTGOING.REFUND_PENDING',
        ...REFUNDED_EVENTS,
        'OUTGOING.REFUND_COMPLETED',
        'OUTGOING.COMPLETED',
      ],
    ],
    [
      '007',
      'fails and cannot be refunded',
      [
        ...STARTED_EVENTS,
        ...SUBMITTED_EVENTS,
        ...FAILED_EVENTS,
        'platform 1000/1000',
        'OUTGOING.REFUND_FAILED',
      ],
    ],
  ])('to an account with suffix %s %s', async (suffix, _description, expectedEvents) => {
    const { lines, events, transaction } = await pay(suffix);
    expect(lines).toEqual(expectedEvents);
    const paymentEvents = events.filter((each) => each.subject === transaction.id);
    for (const { type, data } of paymentEvents) {
      const status = type.split('.')[1] as string;
      if (status.startsWith('REFUND_')) expect(data.refund.status).toBe(status.slice(7));
      else expect(data.status).toBe(status);
    }
    const updateTimes = paymentEvents.map((each) => each.data.updatedAt);
    expect(updateTimes).toEqual([...updateTimes].sort());
    // The data of an event is the resource, so the last event equals the current resource.
    expect(paymentEvents.at(-1)?.data).toEqual(transaction);
    expect(new Set(events.map((each) => each.platformId))).toEqual(new Set([options.platform.id]));
  });
});

describe('payment between internal accounts', () => {
  it('notifies both owners and the platform that earns the fee', async () => {
    const { account } = await createFundedCustomer(app, 1_000_00, options);
    const payee = await createCustomer(app, options);
    const target = await findInternalAccount(app, payee.id, 'EUR', options);
    const body = quoteBody(account.id, target.id, 100_00, { ...FEE, immediatelyExecute: true });
    const { lines } = await captureEvents({ [account.id]: 'payer', [target.id]: 'payee' }, () =>
      app.call('POST', '/quotes', body, options),
    );
    expect(lines).toEqual([
      'OUTGOING.PENDING',
      'OUTGOING.PROCESSING',
      'payer 90000/90000',
      'platform 1080/1080',
      'payee 9080/9080',
      'OUTGOING.COMPLETED',
      'INCOMING.COMPLETED',
    ]);
  });
});

describe('deposit', () => {
  it('emits the payment event before the balance event', async () => {
    const person = await createCustomer(app, options);
    const account = await findInternalAccount(app, person.id, 'USD', options);
    const { lines, events } = await captureEvents({ [account.id]: 'payee' }, () =>
      fundAccount(app, account.id, 5_00, options),
    );
    expect(lines).toEqual(['INCOMING.COMPLETED', 'payee 500/500']);
    expect(events[0]?.data).toMatchObject({
      type: 'INCOMING',
      direction: 'CREDIT',
      status: 'COMPLETED',
      customerId: person.id,
      source: { sourceType: 'REALTIME_FUNDING', currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: account.id },
      receivedAmount: { amount: 5_00, currency: { code: 'USD', decimals: 2 } },
    });
  });
});

describe('quote', () => {
  it('emits its only event at expiry', async () => {
    const { person, account } = await createFundedCustomer(app, 50_00, options);
    const target = await createExternalAccount(app, person.id, 'EUR', '000', options);
    const { lines } = await captureEvents({}, async () => {
      const body = quoteBody(account.id, target.id, 100_00);
      const quote = ok(await app.call('POST', '/quotes', body, options), 201);
      await app.call('POST', `/quotes/${quote.id}/execute`, undefined, options);
      await app.call('GET', `/quotes/${quote.id}`, undefined, options);
      await app.advance(10 * 60_000);
    });
    expect(lines).toEqual(['OUTGOING.EXPIRED']);
  });
});

describe('balance event', () => {
  const STORED_EVENTS_SQL = `select id, data, base_id from events
    where subject = $1 and type = 'INTERNAL_ACCOUNT.BALANCE_UPDATED' order by id`;
  const readStoredData = (id: string) =>
    app.runtime.db.query<{ data: string }>(STORED_EVENTS_SQL, [id]);

  it('stores the account once for each version, and contains the complete account', async () => {
    const { account } = await createFundedCustomer(app, 10_00, options);
    const { id } = account;
    await fundAccount(app, id, 5_00, options);
    await fundAccount(app, id, 7_00, options);
    const rows = await readStoredData(id);
    expect(rows.map(({ data }) => data === '{}')).toEqual([false, true, true]);
    const balanceEvents = (await app.events()).filter(
      (each) => each.subject === id && each.balance !== null,
    );
    const latestEvents = balanceEvents.slice(-3);
    const path = `/customers/internal-accounts?customerId=${account.customerId}&currency=USD`;
    const [currentAccount] = ok(await app.call('GET', path, undefined, options), 200).data;
    for (const { data } of latestEvents) {
      const { balance, totalBalance } = data;
      expect(data).toEqual({ ...currentAccount, balance, totalBalance });
    }
    expect(latestEvents.map((each) => each.balance)).toEqual([10_00n, 15_00n, 22_00n]);

    const incrementVersionSql = 'update internal_accounts set version = version + 1 where id = $1';
    await app.runtime.db.query(incrementVersionSql, [id]);
    await fundAccount(app, id, 1_00, options);
    await fundAccount(app, id, 1_00, options);
    const areEmpty = (await readStoredData(id)).slice(3).map(({ data }) => data === '{}');
    expect(areEmpty).toEqual([false, true]);
  });

  it('always stores the complete account for an account of the platform', async () => {
    await fundAccount(app, platformAccount, 5_00, options);
    expect((await readStoredData(platformAccount)).map(({ data }) => data === '{}')).toEqual([
      false,
      false,
    ]);
  });
});
