// Contact verification in the sandbox: affected customers, codes and their expiry, attempts, and the
// effect of a changed contact.
import { describe, expect, it } from 'vitest';
import { createCustomer, eventTypes, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import {
  type ChannelName,
  confirmCode,
  createEuropeanCustomer,
  messagesTo,
  sendCode,
} from '../../../../test/kit/customers/contacts.ts';

/** Operation, channel, field of the customer and channel name in messages. */
const SEND_OPERATIONS: [string, ChannelName, string, string][] = [
  ['sendCustomerEmailVerification', 'email', 'email', 'EMAIL'],
  ['sendCustomerPhoneVerification', 'phone', 'phoneNumber', 'SMS'],
];
const CONFIRM_OPERATIONS: [string, ChannelName, string][] = [
  ['confirmCustomerEmailVerification', 'email', 'email'],
  ['confirmCustomerPhoneVerification', 'phone', 'phoneNumber'],
];
const MINUTE_MS = 60_000;

const app = testApp();

const advanceClock = (ms: number) => app.effects.set(app.effects.now() + ms);
const errorOf = (response: { status: number; body: { code: string } }) => [
  response.status,
  response.body.code,
];
const statusOf = async (id: string) =>
  ok(await app.call('GET', `/customers/${id}`), 200).contactVerification;

async function change(id: string, body: object) {
  const patch = { customerType: 'INDIVIDUAL', ...body };
  return ok(await app.call('PATCH', `/customers/${id}`, patch), 200);
}

describe.each(SEND_OPERATIONS)('%s', (_operation, name, field, channel) => {
  it('stores the message without sending it in the sandbox', async () => {
    const person = await createEuropeanCustomer(app);
    const response = await sendCode(app, person.id, name);
    expect([response.status, response.body]).toEqual([204, '']);
    const [queuedMessage] = await messagesTo(app, person.id);
    expect(queuedMessage).toMatchObject({ status: 'QUEUED', channel, kind: 'CONTACT_CODE' });
    await app.settle();
    const [storedMessage, furtherMessage] = await messagesTo(app, person.id);
    expect(furtherMessage).toBeUndefined();
    expect(storedMessage).toMatchObject({
      status: 'KEPT',
      attempts: 1,
      sent_at: null,
      to: person[field],
    });
    expect(storedMessage?.text).toBe(
      '123456 is your code for Main. It expires in 10 minutes. Do not share it with anyone.',
    );
    expect(storedMessage?.subject).toBe('Your code for Main');
    const { recipient, content } = storedMessage as { recipient: string; content: string };
    expect(`${recipient} ${content}`).not.toContain(person[field]);
  });

  it('treats a missing body, an empty body and {} in the same way', async () => {
    const person = await createEuropeanCustomer(app);
    const headers = { 'idempotency-key': `send-${name}` };
    ok(await sendCode(app, person.id, name, { headers }), 204);
    ok(await sendCode(app, person.id, name, { headers }, {}), 204);
    expect(await messagesTo(app, person.id)).toHaveLength(1);
    advanceClock(MINUTE_MS);
    ok(await sendCode(app, person.id, name, {}, {}), 204);
    advanceClock(MINUTE_MS);
    const login = `${app.platform.clientId}:${app.platform.clientSecret}`;
    const emptyResponse = await app.server.inject({
      method: 'POST',
      url: `/2025-10-13/customers/${person.id}/verify-${name}`,
      headers: {
        authorization: `Basic ${Buffer.from(login).toString('base64')}`,
        'content-type': 'application/json',
      },
    });
    expect(emptyResponse.statusCode).toBe(204);
    expect(await messagesTo(app, person.id)).toHaveLength(3);
  });

  it('rejects a new code within 30 seconds of the last code', async () => {
    const person = await createEuropeanCustomer(app);
    ok(await sendCode(app, person.id, name), 204);
    const earlyResponse = await sendCode(app, person.id, name);
    expect([...errorOf(earlyResponse), earlyResponse.headers['retry-after']]).toEqual([
      429,
      'RATE_LIMITED',
      '30',
    ]);
    advanceClock(29_500);
    const secondEarlyResponse = await sendCode(app, person.id, name);
    expect([secondEarlyResponse.status, secondEarlyResponse.headers['retry-after']]).toEqual([
      429,
      '1',
    ]);
    advanceClock(500);
    ok(await sendCode(app, person.id, name), 204);
    expect(await messagesTo(app, person.id)).toHaveLength(2);
  });

  it('sends one code for ten concurrent requests', async () => {
    const person = await createEuropeanCustomer(app);
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => sendCode(app, person.id, name)),
    );
    const allStatuses = responses.map(({ status }) => status).sort();
    expect(allStatuses).toEqual([204, ...Array<number>(9).fill(429)]);
    expect(await messagesTo(app, person.id)).toHaveLength(1);
  });
});

describe.each(CONFIRM_OPERATIONS)('%s', (_operation, name, field) => {
  const otherChannel = name === 'email' ? 'phone' : 'email';

  it('verifies the channel once and returns the customer', async () => {
    const person = await createEuropeanCustomer(app);
    ok(await sendCode(app, person.id, name), 204);
    advanceClock(1_000);
    const body = ok(await confirmCode(app, person.id, name, '123456'), 200);
    expect(body.contactVerification).toEqual({ [name]: 'VERIFIED', [otherChannel]: 'PENDING' });
    expect(body).toEqual(ok(await app.call('GET', `/customers/${person.id}`), 200));
    expect(Date.parse(body.updatedAt)).toBe(app.effects.now());
    const events = await eventTypes(app, person.id);
    expect(errorOf(await confirmCode(app, person.id, name, '123456'))).toEqual([409, 'CONFLICT']);
    expect(errorOf(await sendCode(app, person.id, name))).toEqual([409, 'CONFLICT']);
    expect(await eventTypes(app, person.id)).toEqual(events);
  });

  it('accepts only the sandbox code, even before a code was sent', async () => {
    const person = await createEuropeanCustomer(app);
    const wrongResponse = await confirmCode(app, person.id, name, '123457');
    expect(errorOf(wrongResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(wrongResponse.body.details.errors.map((each: { field: string }) => each.field)).toEqual([
      'code',
    ]);
    ok(await confirmCode(app, person.id, name, '123456'), 200);
  });

  it('rejects an expired code with the error of a wrong code', async () => {
    const person = await createEuropeanCustomer(app);
    ok(await sendCode(app, person.id, name), 204);
    const wrongResponse = await confirmCode(app, person.id, name, '000000');
    advanceClock(10 * MINUTE_MS);
    const expiredResponse = await confirmCode(app, person.id, name, '123456');
    expect(expiredResponse.body).toEqual(wrongResponse.body);
    ok(await sendCode(app, person.id, name), 204);
    advanceClock(10 * MINUTE_MS - 1);
    ok(await confirmCode(app, person.id, name, '123456'), 200);
  });

  it('invalidates a code after five wrong attempts', async () => {
    const person = await createEuropeanCustomer(app);
    ok(await sendCode(app, person.id, name), 204);
    const responses = [];
    for (let index = 0; index < 5; index++)
      responses.push(await confirmCode(app, person.id, name, `99999${index}`));
    const correctResponse = await confirmCode(app, person.id, name, '123456');
    expect(correctResponse.status).toBe(400);
    for (const each of responses) expect(each.body).toEqual(correctResponse.body);
    advanceClock(30_000);
    ok(await sendCode(app, person.id, name), 204);
    for (let index = 0; index < 4; index++) {
      expect((await confirmCode(app, person.id, name, '999999')).status).toBe(400);
    }
    ok(await confirmCode(app, person.id, name, '123456'), 200);
  });

  it('resets the channel when the contact changes', async () => {
    // The customer has no wallet, because codes of a wallet would also be sent to the contact.
    const person = await createEuropeanCustomer(app, {}, { currencies: ['USD'] });
    ok(await confirmCode(app, person.id, name, '123456'), 200);
    const value = name === 'email' ? `new-${person.email}` : '+4915199999999';
    const body = await change(person.id, { [field]: value });
    expect(body.contactVerification).toEqual({ email: 'PENDING', phone: 'PENDING' });
    ok(await sendCode(app, person.id, name), 204);
    expect((await messagesTo(app, person.id)).at(-1)?.to).toBe(value);
    ok(await confirmCode(app, person.id, name, '123456'), 200);
  });

  it('rejects a missing or malformed code', async () => {
    const person = await createEuropeanCustomer(app);
    for (const invalidCode of [undefined, '', 123456, null]) {
      expect(errorOf(await confirmCode(app, person.id, name, invalidCode))).toEqual([
        400,
        'INVALID_INPUT',
      ]);
    }
    expect(await statusOf(person.id)).toEqual({ email: 'PENDING', phone: 'PENDING' });
  });
});

describe.each(CONFIRM_OPERATIONS)('%s without a pending channel', (_operation, name, field) => {
  const sendAndConfirm = (id: string, platform = app.platform) =>
    Promise.all([
      sendCode(app, id, name, { platform }),
      confirmCode(app, id, name, '123456', { platform }),
    ]);

  it('returns 409 if no verification is required', async () => {
    const person = await createCustomer(
      app,
      {},
      { email: 'a@example.org', phoneNumber: '+14155550100' },
    );
    for (const each of await sendAndConfirm(person.id))
      expect(errorOf(each)).toEqual([409, 'CONFLICT']);
  });

  it('rejects deleted customers and customers of other platforms', async () => {
    const person = await createEuropeanCustomer(app);
    for (const each of await sendAndConfirm(person.id, app.other)) {
      expect(errorOf(each)).toEqual([404, 'CUSTOMER_NOT_FOUND']);
    }
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    for (const each of await sendAndConfirm(person.id))
      expect(errorOf(each)).toEqual([410, 'CUSTOMER_DELETED']);
    expect(await messagesTo(app, person.id)).toEqual([]);
  });

  it('rejects a customer without the contact if SCA was enabled later', async () => {
    const platform = await app.newPlatform('Late');
    const platformOptions = { platform };
    const setSca = 'update platforms set sca = $2, version = version + 1 where id = $1';
    await app.runtime.db.query(setSca, [platform.id, false]);
    const person = await createCustomer(app, platformOptions, { region: 'DE' });
    expect(person).not.toHaveProperty('contactVerification');
    await app.runtime.db.query(setSca, [platform.id, true]);
    const patch = { customerType: 'INDIVIDUAL', fullName: 'Ada King' };
    const body = ok(
      await app.call('PATCH', `/customers/${person.id}`, patch, platformOptions),
      200,
    );
    expect(body.contactVerification).toEqual({ email: 'PENDING', phone: 'PENDING' });
    for (const each of await sendAndConfirm(person.id, platform)) {
      expect(errorOf(each)).toEqual([400, 'INVALID_INPUT']);
      expect(each.body.details.errors[0].field).toBe(field);
    }
  });
});
