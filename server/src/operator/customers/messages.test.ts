// Messages as shown to the operator: messages of the sandbox, and sent messages whose content was
// deleted.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer, sendCode } from '../../../test/kit/customers/contacts.ts';
import { sendMessage } from '../../features/notifications/messages/index.ts';
import { main } from '../../operator.ts';

const app = testApp();
// biome-ignore lint/suspicious/noExplicitAny: as returned by the API.
let person: any;

async function run(...argv: string[]) {
  const result = { out: '', err: '' };
  const code = await main(argv, {
    env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
    out: (text) => {
      result.out += text;
    },
    err: (text) => {
      result.err += text;
    },
  });
  return { code, ...result };
}

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

beforeAll(async () => {
  person = await createEuropeanCustomer(app);
  ok(await sendCode(app, person.id, 'email'), 204);
  app.effects.set(app.effects.now() + 1_000);
  ok(await sendCode(app, person.id, 'phone'), 204);
  await app.settle();
  app.effects.set(app.effects.now() + 1_000);
  const to = 'guest@example.org';
  await app.operate(
    async (ctx) =>
      void sendMessage(ctx, { channel: 'EMAIL', to, kind: 'GREETING', text: 'Hello.' }),
    app.other,
  );
});

describe('the messages command', () => {
  it('lists messages, newest first, without their content', async () => {
    const allMessages = await runJson('messages', 'list');
    expect(
      allMessages.map(({ kind, status }: { kind: string; status: string }) => [kind, status]),
    ).toEqual([
      ['GREETING', 'QUEUED'],
      ['CONTACT_CODE', 'KEPT'],
      ['CONTACT_CODE', 'KEPT'],
    ]);
    const { out } = await run('messages', 'list');
    expect(out.split('\n')[0]).toMatch(/^CREATED +MESSAGE +CHANNEL +KIND +STATUS +CUSTOMER$/);
    expect(out).toContain(person.id);
    for (const secret of ['123456', person.email, 'guest@']) expect(out).not.toContain(secret);
  });

  it('filters by platform, customer and status', async () => {
    const count = async (...flags: string[]) =>
      (await runJson('messages', 'list', ...flags)).length;
    expect(await count('--platform', app.platform.id)).toBe(2);
    expect(await count('--platform', app.other.id)).toBe(1);
    expect(await count('--customer', person.id)).toBe(2);
    expect(await count('--customer', 'Customer:none')).toBe(0);
    expect(await count('--status', 'QUEUED')).toBe(1);
    expect(await count('--status', 'FAILED')).toBe(0);
    expect(await count('--limit', '1')).toBe(1);
    expect((await run('messages', 'list', '--status', 'UNKNOWN')).code).toBe(2);
  });

  it('shows the content and the recipient of a message', async () => {
    const [greeting, textMessage, mail] = await runJson('messages', 'list');
    expect(await runJson('messages', 'show', mail.messageId)).toMatchObject({
      ...mail,
      to: person.email,
      subject: 'Your code for Main',
      text: expect.stringContaining('123456'),
    });
    expect((await runJson('messages', 'show', textMessage.messageId)).to).toBe(person.phoneNumber);
    const output = await run('messages', 'show', greeting.messageId);
    expect(output.out).toMatch(/^To +guest@example\.org$/m);
    expect(output.out).toMatch(/^Text +Hello\.$/m);
  });

  it('reports deleted content', async () => {
    const [{ messageId }] = await runJson('messages', 'list', '--customer', person.id);
    await app.runtime.db.query('update customers set data_key = null where id = $1', [person.id]);
    const { out } = await run('messages', 'show', messageId);
    expect(out).toMatch(/^To +deleted$/m);
    expect(out).toMatch(/^Text +deleted$/m);
  });

  it('rejects an unknown message', async () => {
    for (const id of ['x', 'Message:018f0000-0000-7000-8000-000000000000']) {
      expect(await run('messages', 'show', id)).toMatchObject({
        code: 1,
        err: 'Message not found.\n',
      });
    }
  });
});
