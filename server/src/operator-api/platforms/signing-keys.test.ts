// Operations on the keys that sign webhooks.
import { afterAll, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

interface Key {
  keyId: string;
  environment: string;
  status: string;
}
const statusesOf = (keys: Key[]) => keys.map(({ status }) => status).sort();

it('signing keys are listed, rotated and retired', async () => {
  const keysBefore = ok(await client.call('GET', '/signing-keys'), 200).keys as Key[];
  expect(statusesOf(keysBefore)).toEqual(['active', 'active', 'active', 'active']);
  const body = { environment: 'sandbox', overlapHours: 1, reason: 'Yearly' };
  const rotatedReply = ok(await client.call('POST', '/signing-keys/rotations', { body }), 200);
  expect(statusesOf(rotatedReply.keys)).toEqual(['active', 'active', 'announced', 'announced']);
  const repeatedReply = await client.call('POST', '/signing-keys/rotations', { body });
  expect([repeatedReply.status, repeatedReply.body.code]).toEqual([409, 'CONFLICT']);
  const announcedKey = rotatedReply.keys.find(({ status }: Key) => status === 'announced') as Key;
  const path = `/signing-keys/${announcedKey.keyId}/retire`;
  expect(statusesOf(ok(await client.call('POST', path), 200).keys)).toEqual(['retired', 'retired']);
  const activeKey = keysBefore.find(({ environment }) => environment === 'sandbox') as Key;
  const rejectedReply = await client.call('POST', `/signing-keys/${activeKey.keyId}/retire`);
  expect([rejectedReply.status, rejectedReply.body.code]).toEqual([409, 'CONFLICT']);
  expect((await client.call('POST', '/signing-keys/none/retire')).status).toBe(404);
  expect(await client.recordsOf('rotateSigningKeys')).toMatchObject([{ reason: 'Yearly' }]);
  expect(await client.recordsOf('retireSigningKey')).toHaveLength(1);
});
