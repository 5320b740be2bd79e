// Loopback webhook endpoints without the permission of the operator.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { openForFile, testApp } from '../../../../test/kit/app/test-app.ts';
import { startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import { platforms } from '../../tenancy/platform/store.ts';

const receiver = openForFile(startReceiver);
const app = testApp({ loopbackWebhooks: false });

describe('a loopback endpoint', () => {
  it.each([
    'http://localhost:8080/',
    'https://127.0.0.1/',
    'http://[::1]:9/',
    'http://a.localhost/',
  ])('is rejected by updatePlatformConfig: %s', async (webhookEndpoint) => {
    const { status, body } = await app.call('PATCH', '/config', { webhookEndpoint });
    expect([status, body.details.errors[0].field]).toEqual([400, 'webhookEndpoint']);
    expect(body.details.errors[0].message).toContain('must not be a loopback address');
  });

  it('receives neither events nor test events if it was configured earlier', async () => {
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, app.platform.id);
      if (!row) throw new Error('The platform was not found.');
      ctx.update(platforms, row, { webhook_endpoint: receiver.url });
      ctx.emit(testEvent, row.id, {});
    });
    await app.app.deliverer.runDue();
    for (const path of ['/webhooks/test', '/sandbox/webhooks/test']) {
      const { status, body } = await app.call('POST', path, {});
      expect([status, body.code]).toEqual([400, 'WEBHOOK_DELIVERY_ERROR']);
      expect(body.details.error).toContain('must not be a loopback address');
    }
    const attempts = await app.runtime.db.query('select status, error from webhook_attempts');
    expect(attempts).toHaveLength(3);
    for (const each of attempts) {
      expect(each).toEqual({ status: null, error: expect.stringContaining('EADDRREFUSED') });
    }
    expect(receiver.arrivals).toEqual([]);
  });

  it('can be replaced by a public endpoint', async () => {
    const webhookEndpoint = 'https://hooks.example.com/';
    ok(await app.call('PATCH', '/config', { webhookEndpoint }), 200);
  });
});
