// Webhook deliveries as the operator sees them: an undelivered event, its attempts, and a resend.
import { beforeAll, describe, expect, it } from 'vitest';
import { customer, fund, internalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { main } from '../../operator.ts';

// The command uses the real clock, which must not be before the server's for the event to be due.
const app = testApp({ start: Date.now() - 30 * 86_400_000 });
let status = 500;
let requested = 0;

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

async function json(...argv: string[]) {
  const { code, out, err } = await run(...argv, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

beforeAll(async () => {
  app.effects.http = async () => {
    requested++;
    return { status, headers: {}, body: 'answer' };
  };
  const hook = { webhookEndpoint: 'http://127.0.0.1:9/hook' };
  ok(await app.call('PATCH', '/config', hook), 200);
  const person = await customer(app);
  await fund(app, (await internalAccount(app, person.id, 'USD')).id, 1_00);
});

describe('webhooks', () => {
  it('shows an undelivered event with its reason, and sends it again', async () => {
    expect(await json('webhooks', 'dropped')).toEqual([]);
    await app.advance(8 * 86_400_000);
    const dropped = await json('webhooks', 'dropped');
    const types = dropped.map((each: { type: string }) => each.type);
    expect(types).toContain('INCOMING_PAYMENT.COMPLETED');
    expect(await json('webhooks', 'dropped', '--limit', '1')).toHaveLength(1);
    const { eventId, attempts, platformId } = dropped[0];
    expect(platformId).toBe(app.platform.id);
    expect((await run('webhooks', 'dropped')).out).toContain(eventId);

    const sent = await json('webhooks', 'attempts', eventId);
    expect(sent).toHaveLength(attempts);
    expect(sent[0]).toMatchObject({ eventId, attempt: 1, status: 500, result: 'retry' });
    expect(sent.at(-1)).toMatchObject({ attempt: attempts, status: 500, result: 'dropped' });
    expect((await run('webhooks', 'attempts', eventId)).out).toMatch(/^ATTEMPT +TIME +RESULT/);

    status = 200;
    const before = requested;
    expect(await json('webhooks', 'resend', eventId)).toEqual({ eventId, due: true });
    app.effects.set(Date.now());
    await app.settle();
    expect(requested).toBe(before + 1);
    const after = await json('webhooks', 'attempts', eventId);
    expect(after.at(-1)).toMatchObject({ attempt: attempts + 1, status: 200, result: 'delivered' });
    const left = await json('webhooks', 'dropped');
    expect(left.map((each: { eventId: string }) => each.eventId)).not.toContain(eventId);
  });

  it.each([
    [['webhooks', 'attempts', 'Webhook:x'], 1, 'Event not found.'],
    [['webhooks', 'resend', 'Webhook:x'], 1, 'Event not found.'],
    [['webhooks', 'resend'], 2, 'EVENT is needed'],
    [['webhooks', 'dropped', '--limit', '0'], 2, '--limit must be a number'],
  ])('%j', async (argv, code, args) => {
    const result = await run(...argv);
    expect(result).toMatchObject({ code, out: '' });
    expect(result.err).toContain(args);
  });
});
