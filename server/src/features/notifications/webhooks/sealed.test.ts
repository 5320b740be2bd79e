// Encrypted events: personal data in the outbox, the bytes of repeated attempts, and events whose data key
// was erased.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createCustomer } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { requeueEvents } from './attempts-store.ts';

const FIRST_RETRY_MS = 6_000;
const NAME = 'Zelda Fitzgerald-Unique';

const app = testApp();
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  await setEndpoint(receiver.url);
});
afterEach(async () => {
  await setEndpoint(null);
  await app.settle();
  await receiver.close();
});

const setEndpoint = (endpoint: string | null) =>
  app.runtime.db.query('update platforms set webhook_endpoint = $2 where id = $1', [
    app.platform.id,
    endpoint,
  ]);

const readStoredEvents = async (subject: string) => {
  const sql = `select id, data, sealed_for, due_at from events
    left join webhook_queue on event_id = id where subject = $1 order by id`;
  return (await app.runtime.db.query(sql, [subject])) as {
    id: string;
    data: string;
    sealed_for: string | null;
    due_at: number | null;
  }[];
};
const eraseKey = (id: string) =>
  app.runtime.db.query('update customers set data_key = null where id = $1', [id]);

it('customer data is stored encrypted and sent as the same bytes in every attempt', async () => {
  receiver.behave(500);
  const person = await createCustomer(app, {}, { fullName: NAME });
  const [event] = await readStoredEvents(person.id);
  expect(event?.sealed_for).toBe(person.id);
  expect(event?.data).not.toContain('Zelda');
  await app.settle();
  receiver.behave(200);
  await app.advance(FIRST_RETRY_MS);
  const [firstArrival, secondArrival, ...laterArrivals] = receiver.arrivals.filter(
    (each) => each.id === event?.id,
  );
  expect(laterArrivals).toEqual([]);
  expect(secondArrival?.body).toBe(firstArrival?.body);
  const { data } = JSON.parse(firstArrival?.body ?? '');
  expect(data).toMatchObject({ id: person.id, fullName: NAME });
  expect((await readStoredEvents(person.id))[0]?.due_at).toBeNull();
});

it('the deliverer sends no event whose key was erased, and delivers other events', async () => {
  receiver.behave(500);
  const erasedCustomer = await createCustomer(app);
  await app.settle();
  receiver.behave(200);
  await eraseKey(erasedCustomer.id);
  const otherCustomer = await createCustomer(app);
  const countBefore = receiver.arrivals.length;
  await app.advance(FIRST_RETRY_MS);
  const [event] = await readStoredEvents(erasedCustomer.id);
  expect(event?.due_at).toBeNull();
  const laterIds = receiver.arrivals.slice(countBefore).map((each) => each.id);
  expect(laterIds).toContain((await readStoredEvents(otherCustomer.id))[0]?.id);
  expect(laterIds).not.toContain(event?.id);
  expect(await requeueEvents(app.runtime.db, [event?.id ?? ''], app.effects.now(), [0])).toEqual(
    [],
  );
  await app.settle();
  expect(receiver.arrivals.slice(countBefore).map((each) => each.id)).not.toContain(event?.id);
});

it('the deliverer skips a corrupt event, logs it, and delivers other events', async () => {
  const corruptCustomer = await createCustomer(app);
  await app.runtime.db.query(
    "update events set data = 's1.AAAA.AAAA' where subject = $1 and sealed_for is not null",
    [corruptCustomer.id],
  );
  const otherCustomer = await createCustomer(app);
  await app.settle();
  expect(receiver.arrivals.map((each) => each.id)).toContain(
    (await readStoredEvents(otherCustomer.id))[0]?.id,
  );
  expect((await readStoredEvents(corruptCustomer.id))[0]?.due_at).toBeNull();
  expect(app.log.some((line) => line.includes('the data of an event is unreadable'))).toBe(true);
});
