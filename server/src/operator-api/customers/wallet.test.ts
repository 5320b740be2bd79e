// Operations of operators on embedded wallets.
import { afterEach, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../test/kit/app/harness.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { walletFixture } from '../../../test/kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../../../test/kit/wallets/one-time-codes.ts';

const HOUR_MS = 3_600_000;
const app = testApp({ walletRecoveryMs: 48 * HOUR_MS });
const fixture = walletFixture(app);
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const get = async (path: string) => ok(await client.call('GET', path), 200);
const createPerson = () => fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
const recover = (accountId: string, secret?: string) =>
  client.call('POST', `/wallets/${accountId}/recoveries`, {
    body: { type: 'SMS_OTP', reason: 'Lost the mailbox' },
    ...(secret ? { secret } : {}),
  });

it('the API shows public keys by environment', async () => {
  const { data } = await get('/wallet-keys');
  expect(data).toMatchObject([{ environment: 'sandbox' }, { environment: 'production' }]);
  expect(data[0].bundles).toBe(app.connectorsOf('sandbox').custody?.publicKeys().bundles);
});

it('the API lists wallets in pages, with their credentials and recoveries', async () => {
  const firstCustomer = await createPerson();
  app.effects.set(app.effects.now() + 1_000);
  const secondCustomer = await createPerson();
  ok(await recover(firstCustomer.accountId), 201);
  const listPath = `/wallets?platformId=${app.platform.id}&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({
    data: [{ accountId: secondCustomer.accountId, status: 'ACTIVE', isRecovering: false }],
    hasMore: true,
  });
  expect((await get(`${listPath}&cursor=${firstPage.nextCursor}`)).data).toMatchObject([
    { accountId: firstCustomer.accountId, isRecovering: true, platformId: app.platform.id },
  ]);
  const { data } = await get(`/wallets?customerId=${firstCustomer.customer.id}`);
  expect(data).toMatchObject([
    { customerId: firstCustomer.customer.id, credentialTypes: ['EMAIL_OTP'] },
  ]);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect(ok(await client.call('GET', '/wallets', { secret }), 200).data).toEqual([]);
});

it('the API starts, lists and cancels recoveries', async () => {
  const { accountId, customer } = await createPerson();
  const recovery = ok(await recover(accountId), 201);
  expect(recovery).toMatchObject({
    ...{ accountId, customerId: customer.id, platformId: app.platform.id, status: 'WAITING' },
    ...{ actor: 'Test', reason: 'Lost the mailbox' },
  });
  expect((await recover(accountId)).body.code).toBe('CONFLICT');
  const wallet = await get(`/wallets/${accountId}`);
  expect(wallet).toMatchObject({ accountId, recovery: { recoveryId: recovery.recoveryId } });
  expect(wallet.credentials).toHaveLength(1);
  app.effects.set(app.effects.now() + 1_000);
  const laterCustomer = await createPerson();
  ok(await recover(laterCustomer.accountId), 201);
  const listPath = `/wallet-recoveries?platformId=${app.platform.id}&status=WAITING&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({
    data: [{ accountId: laterCustomer.accountId }],
    hasMore: true,
  });
  expect((await get(`${listPath}&cursor=${firstPage.nextCursor}`)).data).toMatchObject([
    { accountId },
  ]);

  const path = `/wallet-recoveries/${recovery.recoveryId}/cancel`;
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('POST', path, { secret })).status).toBe(404);
  expect(ok(await client.call('POST', path), 200)).toMatchObject({
    ...{ status: 'CANCELLED', cancelledFor: 'OPERATOR', cancelledBy: 'Test' },
  });
  expect((await client.call('POST', path)).body.code).toBe('CONFLICT');
  expect(
    (await get(`/audit-records?outcome=SUCCEEDED&subject=${recovery.recoveryId}`)).data,
  ).toMatchObject([{ operationId: 'cancelWalletRecovery', customerId: customer.id }]);
});

it('the API rejects a recovery unless the installation sets a waiting period', async () => {
  const appWithoutRecovery = await startApp();
  const { accountId } = await walletFixture(appWithoutRecovery).createWalletCustomer();
  const reply = await operatorClient(appWithoutRecovery).call(
    'POST',
    `/wallets/${accountId}/recoveries`,
    {
      body: { type: 'SMS_OTP', reason: 'Lost the mailbox' },
    },
  );
  expect(reply.body).toMatchObject({ code: 'CONFLICT' });
  await appWithoutRecovery.close();
});

it('the API lists authorizations, shows an authorization, and records the access', async () => {
  const { accountId } = await fixture.createEmailAndSmsWallet();
  const listPath = `/wallets/${accountId}/authorizations?limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({ data: [{ platformId: app.platform.id }], hasMore: true });
  const { data } = await get(`${listPath}&cursor=${firstPage.nextCursor}`);
  expect(data[0].authorizationId).not.toBe(firstPage.data[0].authorizationId);
  const { authorizationId, customerId } = firstPage.data[0];
  const details = await get(`/wallet-authorizations/${authorizationId}`);
  expect(details).toMatchObject({ accountId, customerId });
  expect(details.payload).toEqual(expect.any(String));
  expect(
    (await get(`/audit-records?outcome=SUCCEEDED&subject=${authorizationId}`)).data,
  ).toMatchObject([{ operationId: 'getWalletAuthorization', customerId, hasChanges: false }]);
});

it('the API hides wallets of other platforms', async () => {
  const { accountId } = await createPerson();
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await client.call('GET', `/wallets/${accountId}`, { secret })).status).toBe(404);
  expect((await recover(accountId, secret)).status).toBe(404);
  expect((await get(`/wallets/${accountId}`)).recovery).toBeNull();
});
