// Webhook endpoints on the server's own machine, where the operator does not allow them.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { opened, testApp } from '../../../../test/kit/app/test-app.ts';
import { startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import { platforms } from '../../tenancy/platform/store.ts';

const receiver = opened(startReceiver);
const app = testApp({ loopbackWebhooks: false });

describe('an endpoint on this machine', () => {
  it.each([
    'http://localhost:8080/',
    'https://127.0.0.1/',
    'http://[::1]:9/',
    'http://a.localhost/',
  ])('is rejected when it is set: %s', async (webhookEndpoint) => {
    const { status, body } = await app.call('PATCH', '/config', { webhookEndpoint });
    expect([status, body.details.errors[0].field]).toEqual([400, 'webhookEndpoint']);
    expect(body.details.errors[0].message).toContain('must not be a loopback address');
  });

  it('that was set before is not called, neither by events nor by tests', async () => {
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, app.platform.id);
      if (!row) throw new Error('no platform');
      ctx.update(platforms, row, { webhook_endpoint: receiver.url });
      ctx.emit(testEvent, row.id, {});
    });
    await app.app.deliverer.runDue();
    for (const path of ['/webhooks/test', '/sandbox/webhooks/test']) {
      const { status, body } = await app.call('POST', path, {});
      expect([status, body.code]).toEqual([400, 'WEBHOOK_DELIVERY_ERROR']);
      expect(body.details.error).toContain('must not be a loopback address');
    }
    const tries = await app.runtime.db.query('select status, error from webhook_attempts');
    expect(tries).toHaveLength(3);
    for (const each of tries) {
      expect(each).toEqual({ status: null, error: expect.stringContaining('EADDRREFUSED') });
    }
    expect(receiver.got).toEqual([]);
  });

  it('is no matter for endpoints elsewhere', async () => {
    const webhookEndpoint = 'https://hooks.example.com/';
    ok(await app.call('PATCH', '/config', { webhookEndpoint }), 200);
  });
});
