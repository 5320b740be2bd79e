// Operations of strong customer authentication.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import type { TestApp } from '../../../test/kit/app/harness.ts';
import { openForFile, testApp } from '../../../test/kit/app/test-app.ts';
import {
  confirmCode,
  createEuropeanCustomer,
  sendCode,
} from '../../../test/kit/customers/contacts.ts';
import { startReceiver } from '../../../test/kit/http/webhook-receiver.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import { loginFixture } from '../../../test/kit/sca/login.ts';

const sms = openForFile(startReceiver);
const app = testApp(() => ({ connectors: { smsUrl: sms.url } }));
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});
let productionOptions: { platform: TestApp['production'] };
beforeAll(() => {
  productionOptions = { platform: app.production };
});

/** The code of the latest text message. */
async function readTextedCode(): Promise<string> {
  await app.settle();
  return JSON.parse(sms.arrivals.at(-1)?.body ?? '{}').text.slice(0, 6);
}

/** Creates a customer with a verified phone number. Returns the ID. */
async function createVerifiedCustomer() {
  const person = await createEuropeanCustomer(app, productionOptions);
  ok(await sendCode(app, person.id, 'phone', productionOptions), 204);
  ok(await confirmCode(app, person.id, 'phone', await readTextedCode(), productionOptions), 200);
  return person.id as string;
}

async function startReset(customerId: string) {
  const path = `/sca/factors/reset?customerId=${customerId}`;
  return ok(await app.call('POST', path, { factor: 'SMS_OTP' }, productionOptions), 201)
    .resetId as string;
}

const get = async (path: string) => ok(await client.call('GET', path), 200);
const post = (path: string, reason = 'seen by video', secret?: string) =>
  client.call('POST', path, { body: { reason }, ...(secret ? { secret } : {}) });
const recordsOf = async (subject: string) =>
  (await get(`/audit-records?outcome=SUCCEEDED&subject=${subject}`)).data;

it('the API lists resets and records decisions about them', async () => {
  const [firstCustomerId, secondCustomerId] = [
    await createVerifiedCustomer(),
    await createVerifiedCustomer(),
  ];
  const [passedResetId, rejectedResetId] = [
    await startReset(firstCustomerId),
    await startReset(secondCustomerId),
  ];
  const listPath = `/factor-resets?platformId=${app.production.id}&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({ data: [{ resetId: passedResetId, status: 'PENDING_REVIEW' }] });
  const secondPage = await get(`${listPath}&cursor=${firstPage.nextCursor}`);
  expect(secondPage).toMatchObject({ data: [{ resetId: rejectedResetId }], hasMore: false });
  expect((await get(`/customers/${firstCustomerId}/authentication`)).openResets).toHaveLength(1);

  expect(ok(await post(`/factor-resets/${passedResetId}/pass`), 200)).toMatchObject({
    ...{ customerId: firstCustomerId, status: 'LIVENESS_PASSED' },
  });
  expect(await recordsOf(passedResetId)).toMatchObject([
    { operationId: 'passFactorReset', reason: 'seen by video', customerId: firstCustomerId },
  ]);
  expect(ok(await post(`/factor-resets/${rejectedResetId}/reject`), 200)).toMatchObject({
    status: 'REJECTED',
  });
  expect((await post(`/factor-resets/${passedResetId}/pass`)).body).toMatchObject({
    code: 'CONFLICT',
  });

  const eventsPath = `/customers/${firstCustomerId}/authentication-events`;
  const { data } = await get(eventsPath);
  expect(data).toMatchObject([
    { type: 'RESET_PASSED', actor: 'Test', reason: 'seen by video', platformId: app.production.id },
    { type: 'RESET_STARTED', actor: null },
  ]);
  expect((await recordsOf(firstCustomerId))[0]).toMatchObject({
    operationId: 'listAuthenticationEvents',
  });
  expect((await get(`${eventsPath}?limit=1`)).hasMore).toBe(true);
});

it('the API shows the failed attempts of a customer and unlocks the customer', async () => {
  const id = await createVerifiedCustomer();
  const login = loginFixture(app, productionOptions);
  ok(await login.fail(id), 200);
  expect(await get(`/customers/${id}/authentication`)).toMatchObject({
    ...{ customerId: id, failedAttempts: 1, isUnderSca: true },
    factors: [{ factor: 'SMS_OTP' }],
  });
  expect(ok(await post(`/customers/${id}/unlock`), 200)).toMatchObject({ failedAttempts: 0 });
  expect((await recordsOf(id))[0]).toMatchObject({ operationId: 'unlockCustomer' });
  const unknownPath = '/customers/Customer:01980000-0000-7000-8000-000000000000';
  expect((await post(`${unknownPath}/unlock`)).body.code).toBe('CUSTOMER_NOT_FOUND');
});

it('the API hides customers of other platforms', async () => {
  const id = await createVerifiedCustomer();
  const resetId = await startReset(id);
  const secret = await client.secretOf({ platformIds: [app.platform.id] });
  for (const path of ['authentication', 'authentication-events']) {
    const reply = await client.call('GET', `/customers/${id}/${path}`, { secret });
    expect(reply.status).toBe(404);
  }
  expect((await post(`/customers/${id}/unlock`, 'r', secret)).status).toBe(404);
  expect((await post(`/factor-resets/${resetId}/pass`, 'r', secret)).status).toBe(404);
  expect(ok(await client.call('GET', '/factor-resets', { secret }), 200).data).toEqual([]);
  expect((await get(`/customers/${id}/authentication`)).openResets).toMatchObject([{ resetId }]);
});

it('the API passes a reset only after an approval if a policy requires it', async () => {
  const policy = { operationId: 'passFactorReset', hours: 24 };
  const { body: createdPolicy } = await client.call('POST', '/approval-policies', { body: policy });
  const customerId = await createVerifiedCustomer();
  const resetId = await startReset(customerId);
  const requester = await client.secretOf({ name: 'Requester', roles: ['administrator'] });
  const { status, body: approval } = await post(
    `/factor-resets/${resetId}/pass`,
    'seen by video',
    requester,
  );
  expect([status, approval.status]).toEqual([202, 'PENDING']);
  const readOpenResets = async () =>
    (await get(`/customers/${customerId}/authentication`)).openResets;
  expect(await readOpenResets()).toMatchObject([{ status: 'PENDING_REVIEW' }]);
  const path = `/approvals/${approval.id}/approve`;
  expect((await post(path, 'seen', requester)).status).toBe(403);
  const approver = await client.secretOf({ name: 'Approver', roles: ['administrator'] });
  expect((await post(path, 'seen', approver)).body).toMatchObject({
    reply: { resetId, status: 'LIVENESS_PASSED' },
  });
  ok(await client.call('DELETE', `/approval-policies/${createdPolicy.id}`), 200);
});
