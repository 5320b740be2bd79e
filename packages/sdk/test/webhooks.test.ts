// Deliveries of a real server, verified by the SDK with each kind of key.
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../../../server/test/kit/app/fixtures.ts';
import { openForFile, testApp } from '../../../server/test/kit/app/test-app.ts';
import { startReceiver } from '../../../server/test/kit/http/webhook-receiver.ts';
import { isEvent, verify } from '../src/webhooks.ts';
import { clientOf } from './kit/clients.ts';

const app = testApp();
const receiver = openForFile(() => startReceiver());
const secondReceiver = openForFile(() => startReceiver());

/** Current time of the server. */
const now = () => app.effects.now();

async function receiveDelivery() {
  const client = await clientOf(app);
  await client.config.updatePlatformConfig({ webhookEndpoint: receiver.url });
  const { id } = await createCustomer(app);
  await app.settle();
  const delivery = receiver.arrivals.find(({ body }) => body.includes(id));
  if (!delivery) throw new Error('The receiver received no webhook.');
  return { ...delivery, customerId: id as string };
}

const serviceKey = () => app.keys.sandbox.publicKeyPem;
const standardKey = () => app.keys.sandbox.standard.publicKeyPem;

describe('verify', () => {
  it.each([
    ['the key of the server', serviceKey],
    ['the key of Standard Webhooks', standardKey],
  ])('accepts a delivery signed with %s', async (_, key) => {
    const { body, headers, id, customerId } = await receiveDelivery();
    const event = await verify({ body, headers, keys: key(), now: now() });
    expect(event).toMatchObject({ id, data: { id: customerId } });
    const bytes = Buffer.from(body);
    const fetchHeaders = new Headers(headers);
    const eventFromBytes = await verify({
      body: bytes,
      headers: fetchHeaders,
      keys: [key()],
      now: now(),
    });
    expect(eventFromBytes).toEqual(event);
    if (!isEvent(event, 'CUSTOMER.KYC_APPROVED'))
      throw new Error(`The event type ${event.type} is unexpected.`);
    expect(event.data.customerType).toBe('INDIVIDUAL');
  });

  it.each([
    ['the key of the server', serviceKey],
    ['the key of Standard Webhooks', standardKey],
  ])('rejects a changed body with %s', async (_, key) => {
    const { body, headers } = await receiveDelivery();
    const changedBody = body.replace('Ada', 'Eve');
    const verification = verify({ body: changedBody, headers, keys: key(), now: now() });
    await expect(verification).rejects.toMatchObject({ code: 'WEBHOOK_INVALID', status: 0 });
    await expect(verification).rejects.toThrow('No key has signed this body');
  });

  it('accepts the old and the new secret of an endpoint after a rotation', async () => {
    const client = await clientOf(app);
    const endpoint = await client.webhookEndpoints.createWebhookEndpoint({
      url: secondReceiver.url,
    });
    const { id: endpointId } = endpoint;
    const rotationReply = await client.webhookEndpoints.rotateWebhookEndpointKey({ endpointId });
    await createCustomer(app);
    await app.settle();
    const { body, headers } = secondReceiver.arrivals.at(-1) ?? { body: '', headers: {} };
    const [oldSecret, newSecret] = [endpoint.secret, rotationReply.secret] as [string, string];
    for (const keys of [
      oldSecret,
      newSecret,
      [newSecret, oldSecret],
      ['whsec_bm90aGluZw==', oldSecret],
    ]) {
      await expect(verify({ body, headers, keys, now: now() })).resolves.toHaveProperty('id');
    }
    const verification = verify({ body, headers, keys: 'whsec_bm90aGluZw==', now: now() });
    await expect(verification).rejects.toMatchObject({ code: 'WEBHOOK_INVALID' });
    await expect(verify({ body, headers, keys: [], now: now() })).rejects.toThrow('no signature');
  });

  it('rejects an expired timestamp, with a configurable tolerance', async () => {
    const { body, headers } = await receiveDelivery();
    const laterTime = now() + 301_000;
    const keys = standardKey();
    await expect(verify({ body, headers, keys, now: laterTime })).rejects.toThrow(
      'more than 300 s',
    );
    await verify({ body, headers, keys, now: laterTime, tolerance: 600 });
    // The signature of the server does not include a time.
    await verify({ body, headers, keys: serviceKey(), now: laterTime });
  });

  it('rejects a request without signatures and an invalid key', async () => {
    const { body } = await receiveDelivery();
    const keys = serviceKey();
    const unsignedVerification = verify({ body, headers: {}, keys });
    await expect(unsignedVerification).rejects.toThrow('no signature by one of the keys');
    const headers = { 'x-service-signature': '%%%' };
    await expect(verify({ body, headers, keys })).rejects.toThrow('No key has signed');
    const verification = verify({ body, headers, keys: 'nonsense' });
    await expect(verification).rejects.toMatchObject({ code: 'INVALID_CLIENT_INPUT' });
  });
});
