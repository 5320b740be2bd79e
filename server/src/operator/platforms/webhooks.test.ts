// Webhook deliveries as shown to the operator: the same as in the API and in the metric.
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { main } from '../../operator.ts';

// The command uses the real clock. The clock of the server is earlier, so that resent events are
// due.
const app = testApp({ start: Date.now() - 30 * 86_400_000 });
let status = 500;
let requestCount = 0;

async function run(...argv: string[]) {
  const result = { code: 0, out: '', err: '' };
  result.code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return result;
}

async function runJson(...argv: string[]) {
  const { code, out, err } = await run(...argv, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

beforeAll(async () => {
  app.effects.http = async () => {
    requestCount++;
    return { status, headers: {}, body: 'answer' };
  };
  const config = { webhookEndpoint: 'http://127.0.0.1:9/hook' };
  ok(await app.call('PATCH', '/config', config), 200);
  const person = await createCustomer(app);
  await fundAccount(app, (await findInternalAccount(app, person.id, 'USD')).id, 1_00);
});

/** The gauge of pending deliveries, which is read at most every five seconds. */
async function readPendingMetric(): Promise<number> {
  app.effects.set(app.effects.now() + 5_000);
  const { payload } = await app.app.server.inject('/metrics');
  return Number(/^railhead_deliveries_pending(?:\{[^}]*\})? (\d+)$/m.exec(payload)?.[1]);
}

describe('the webhooks command', () => {
  it('shows an undelivered event with its reason, and sends it again', async () => {
    expect(await runJson('webhooks', 'dropped')).toEqual([]);
    await app.advance(8 * 86_400_000);
    const droppedOutput = await runJson('webhooks', 'dropped');
    const types = droppedOutput.map((each: { type: string }) => each.type);
    expect(types).toContain('INCOMING_PAYMENT.COMPLETED');
    expect(await runJson('webhooks', 'dropped', '--limit', '1')).toHaveLength(1);
    const { eventId, attempts, platformId } = droppedOutput[0];
    expect(platformId).toBe(app.platform.id);
    expect((await run('webhooks', 'dropped')).out).toContain(eventId);

    const [delivery, ...otherDeliveries] = await runJson('webhooks', 'attempts', eventId);
    expect(otherDeliveries).toEqual([]);
    expect(delivery).toMatchObject({ eventId, status: 'FAILED', attemptCount: attempts });
    expect(delivery.attempts).toHaveLength(attempts);
    expect(delivery.attempts[0]).toMatchObject({ number: 1, responseStatus: 500, result: 'RETRY' });
    expect(delivery.attempts.at(-1)).toMatchObject({ responseStatus: 500, result: 'FAILED' });
    expect(ok(await app.call('GET', `/webhook-deliveries/${delivery.id}`), 200)).toEqual(delivery);
    expect((await run('webhooks', 'attempts', eventId)).out).toMatch(
      /^ENDPOINT +ATTEMPT +TIME +RESULT/,
    );

    status = 200;
    const countBefore = requestCount;
    expect(await runJson('webhooks', 'resend', eventId)).toEqual({
      eventId,
      due: true,
      deliveryIds: [delivery.id],
    });
    app.effects.set(Date.now());
    await app.settle();
    expect(requestCount).toBe(countBefore + 1);
    const [deliveryAfter] = await runJson('webhooks', 'attempts', eventId);
    expect(deliveryAfter.attempts.at(-1)).toMatchObject({
      number: attempts + 1,
      responseStatus: 200,
      result: 'DELIVERED',
    });
    const droppedAfter = await runJson('webhooks', 'dropped');
    expect(droppedAfter.map((each: { eventId: string }) => each.eventId)).not.toContain(eventId);
  });

  it('lists pending deliveries like the API and the metric, test events included', async () => {
    await app.settle();
    expect(await runJson('webhooks', 'pending')).toEqual([]);
    expect(await readPendingMetric()).toBe(0);
    status = 500;
    await createCustomer(app);
    await app.settle();
    // Setting an endpoint queues a test event, which is not sent yet.
    ok(await app.call('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:9/new' }), 200);
    const list = ok(await app.call('GET', '/webhook-deliveries?status=PENDING&sortOrder=asc'), 200);
    const types = list.data.map((each: { eventType: string }) => each.eventType);
    expect(types).toContain('TEST');
    expect(types).toContain('CUSTOMER.KYC_APPROVED');
    const pendingOutput = await runJson('webhooks', 'pending', '--platform', app.platform.id);
    const platformId = app.platform.id;
    expect(pendingOutput).toEqual(list.data.map((each: object) => ({ platformId, ...each })));
    expect(await runJson('webhooks', 'pending')).toEqual(pendingOutput);
    expect(await runJson('webhooks', 'pending', '--platform', app.other.id)).toEqual([]);
    expect(await runJson('webhooks', 'pending', '--limit', '1')).toEqual(pendingOutput.slice(0, 1));
    const [{ eventId, endpointId }] = pendingOutput;
    expect((await run('webhooks', 'pending')).out).toContain(eventId);
    expect(await readPendingMetric()).toBe(pendingOutput.length);
    await app.settle();
    // A test event is sent once.
    const failedDeliveries = ok(
      await app.call('GET', '/webhook-deliveries?status=FAILED&eventType=TEST'),
      200,
    );
    const ids = failedDeliveries.data.map((each: { eventId: string }) => each.eventId);
    const droppedOutput = await runJson('webhooks', 'dropped');
    expect(droppedOutput.map((each: { eventId: string }) => each.eventId)).toEqual(
      expect.arrayContaining(ids),
    );
    expect(await runJson('webhooks', 'pending')).toHaveLength(pendingOutput.length - 1);
    expect(await readPendingMetric()).toBe(pendingOutput.length - 1);
    const resentDelivery = await runJson('webhooks', 'resend', ids[0], '--endpoint', endpointId);
    expect(resentDelivery.deliveryIds).toHaveLength(1);
    expect(await runJson('webhooks', 'pending')).toHaveLength(pendingOutput.length);
    const rejectedResult = await run(
      'webhooks',
      'resend',
      ids[0],
      '--endpoint',
      'WebhookEndpoint:x',
    );
    expect(rejectedResult).toMatchObject({
      code: 1,
      err: expect.stringContaining('endpoint not found'),
    });
  });

  it.each([
    [['webhooks', 'attempts', 'Webhook:x'], 1, 'Event not found.'],
    [['webhooks', 'resend', 'Webhook:x'], 1, 'Event not found.'],
    [['webhooks', 'resend'], 2, 'EVENT is required'],
    [['webhooks', 'dropped', '--limit', '0'], 2, '--limit must be a whole number'],
    [['webhooks', 'keys', 'rotate'], 2, '--environment ENVIRONMENT is required'],
    [['webhooks', 'keys', 'rotate', '--environment', 'test'], 2, 'one of sandbox, production'],
    [['webhooks', 'keys', 'retire'], 2, 'KEY is required'],
    [['webhooks', 'keys', 'retire', 'x'], 1, 'Signing key not found.'],
    [['webhooks', 'keys', 'rotat'], 2, 'Nearest match: railhead-server webhooks keys rotate'],
    [['webhooks', 'keys'], 2, 'webhooks has no verb keys'],
  ])('rejects %j', async (argv, code, message) => {
    const result = await run(...argv);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(message);
  });
});
