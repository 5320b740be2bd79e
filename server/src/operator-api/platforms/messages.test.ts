// Operations on messages: the list has no personal data, and each access to a message is recorded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { createEuropeanCustomer, sendCode } from '../../../test/kit/customers/contacts.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { sendMessage } from '../../features/notifications/messages/index.ts';

const app = testApp();
const client = operatorClient(app);
// biome-ignore lint/suspicious/noExplicitAny: as returned by the API.
let person: any;

beforeAll(async () => {
  person = await createEuropeanCustomer(app);
  ok(await sendCode(app, person.id, 'email'), 204);
  await app.settle();
  app.effects.set(app.effects.now() + 1_000);
  const to = 'guest@example.org';
  await app.operate(
    async (ctx) =>
      void sendMessage(ctx, { channel: 'EMAIL', to, kind: 'GREETING', text: 'Hello.' }),
    app.other,
  );
});

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

const kindsOf = async (query: string) => {
  const { data } = ok(await client.call('GET', `/messages?${query}`), 200);
  return data.map(({ kind }: { kind: string }) => kind);
};

describe('messages', () => {
  it('are listed in pages, newest first, without recipient and content', async () => {
    const firstPage = ok(await client.call('GET', '/messages?limit=1'), 200);
    const nextPage = ok(await client.call('GET', `/messages?cursor=${firstPage.nextCursor}`), 200);
    const allMessages = [...firstPage.data, ...nextPage.data];
    expect(allMessages.map(({ kind }) => kind)).toEqual(['GREETING', 'CONTACT_CODE']);
    expect(JSON.stringify(allMessages)).not.toMatch(/123456|guest@/);
    expect(await kindsOf(`platformId=${app.other.id}`)).toEqual(['GREETING']);
    expect(await kindsOf(`customerId=${person.id}`)).toEqual(['CONTACT_CODE']);
    expect(await kindsOf('status=KEPT')).toEqual(['CONTACT_CODE']);
    expect((await client.call('GET', '/messages?platformId=none')).status).toBe(404);
  });

  it('are shown with their content, and each access is recorded', async () => {
    const { data } = ok(await client.call('GET', `/messages?customerId=${person.id}`), 200);
    const path = `/messages/${data[0].messageId}`;
    expect(ok(await client.call('GET', path), 200)).toMatchObject({
      ...data[0],
      to: person.email,
      text: expect.stringContaining('123456'),
    });
    expect(await client.recordsOf('getMessage')).toMatchObject([
      { subject: data[0].messageId, platformId: app.platform.id, customerId: person.id },
    ]);
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    expect((await client.call('GET', path, { secret })).status).toBe(404);
    expect((await client.call('GET', '/messages/none')).status).toBe(404);
  });
});
