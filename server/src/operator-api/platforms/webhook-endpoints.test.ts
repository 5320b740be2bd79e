// Webhook endpoints of a platform: their state, pausing and resuming, and access of other
// operators.
import { afterEach, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const URL = 'http://127.0.0.1:9/webhooks';
const path = () => `/platforms/${app.platform.id}/webhook-endpoints`;
const list = async () => ok(await client.call('GET', path()), 200).data;

it('endpoints are listed with the state of their deliveries', async () => {
  expect(await list()).toEqual([]);
  ok(await app.call('PATCH', '/config', { webhookEndpoint: URL }), 200);
  const createdReply = ok(await app.call('POST', '/webhook-endpoints', { url: `${URL}/2` }), 201);
  await createCustomer(app);
  const [configuredEndpoint, ownEndpoint] = await list();
  expect(configuredEndpoint).toMatchObject({
    isConfigured: true,
    url: URL,
    platformId: app.platform.id,
  });
  expect(ownEndpoint).toMatchObject({ id: createdReply.id, status: 'ENABLED', failed: 0 });
  expect(ownEndpoint.pending).toBeGreaterThan(0);
  expect(Date.parse(ownEndpoint.oldestPendingAt)).toBeGreaterThan(0);
  expect(ownEndpoint).not.toHaveProperty('lastSuccessAt');
  expect(JSON.stringify(ownEndpoint)).not.toContain('secret');
});

it('endpoints are paused with a reason, and resumed', async () => {
  for (const { id } of await list()) {
    const body = { reason: 'The receiver is under maintenance.' };
    const pausedReply = ok(
      await client.call('POST', `/webhook-endpoints/${id}/pause`, { body }),
      200,
    );
    expect(pausedReply).toMatchObject({ id, status: 'PAUSED', statusReason: body.reason });
    expect((await client.recordsOf('pauseWebhookEndpoint'))[0]).toMatchObject({
      ...{ subject: id, platformId: app.platform.id, reason: body.reason },
    });
    const resumedReply = ok(await client.call('POST', `/webhook-endpoints/${id}/resume`), 200);
    expect(resumedReply).toMatchObject({ id, status: 'ENABLED' });
  }
});

it('endpoints of other platforms are hidden', async () => {
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('GET', path(), { secret })).status).toBe(404);
  const body = { reason: 'None.' };
  for (const { id } of await list()) {
    const reply = await client.call('POST', `/webhook-endpoints/${id}/pause`, { body, secret });
    expect(reply.status).toBe(404);
  }
  for (const id of ['WebhookEndpoint:018f0000-0000-7000-8000-000000000000', 'nothing']) {
    const reply = await client.call('POST', `/webhook-endpoints/${id}/pause`, { body });
    expect([reply.status, reply.body.code]).toEqual([404, 'NOT_FOUND']);
  }
});
