// Scenario of an agent, from its device code to its deletion, with invalid codes and tokens in
// credentials, paths, queries and bodies.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { receiveFunds } from '../../../src/features/payments/quotes/index.ts';
import { agentFixture, policyBody } from '../agents/agents.ts';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
} from '../app/fixtures.ts';
import type { ApiResponse } from '../app/harness.ts';
import {
  idempotencyHeader,
  randomPassword,
  type StrongAuthenticationHarness,
} from './second-factors.ts';

type Fixture = ReturnType<typeof agentFixture>;

/** A customer with a USD balance and an external account. */
async function createHolder({ app, platform }: StrongAuthenticationHarness) {
  const { id } = await createCustomer(app, { platform });
  const sql = `update customers set status = 'APPROVED', version = version + 1 where id = $1`;
  await app.runtime.db.query(sql, [id]);
  const { id: from } = await findInternalAccount(app, id, 'USD', { platform });
  const deposit = { accountId: from, currency: 'USD', amount: 1_000_00n };
  await app.operate((ctx) => receiveFunds(ctx, deposit), platform);
  const { id: to } = await createExternalAccount(app, id, 'USD', '000', { platform });
  return { id: id as string, from: from as string, to: to as string };
}

function noteCode({ secrets }: StrongAuthenticationHarness, name: string, code: string): string {
  secrets.note(name, code.replace(/^\w+-AGENT-/, ''));
  secrets.note(name, code.replace(/^\w+-AGENT-/, '').replaceAll('-', ''));
  return secrets.note(name, code);
}

const readCodeStatus = (fixture: Fixture, code: string) =>
  fixture.callAsPlatform('GET', `/agents/device-codes/${code}/status`);

/** A connected agent: its ID, its token and its device code. */
async function connect(harness: StrongAuthenticationHarness, fixture: Fixture, customerId: string) {
  const body = {
    ...{ name: 'Bookkeeper', customerId },
    policy: policyBody({ defaultExecutionMode: 'APPROVAL_REQUIRED' }),
  };
  const createdAgent = ok(
    await fixture.callAsPlatform('POST', '/agents', body, idempotencyHeader()),
    201,
  );
  const { id } = createdAgent.agent;
  const replacedCode = noteCode(
    harness,
    'a device code that was replaced',
    createdAgent.deviceCode.code,
  );
  const secondResponse = await fixture.callAsPlatform(
    'POST',
    `/agents/${id}/device-codes`,
    undefined,
    idempotencyHeader(),
  );
  const code = noteCode(harness, 'a device code', ok(secondResponse, 201).code);
  await harness.recordStoredData();
  const unknownCode = noteCode(harness, 'an invalid device code', 'SERVICE-AGENT-QQQQ-7777-QQQQ');
  for (const unknownSecret of [
    unknownCode,
    unknownCode.toLowerCase(),
    harness.secrets.note('a malformed device code', randomPassword()),
  ]) {
    expect((await fixture.redeemCode(unknownSecret)).status).toBe(404);
    expect((await readCodeStatus(fixture, unknownSecret)).status).toBe(404);
  }
  expect((await fixture.redeemCode(replacedCode)).status).toBe(400);
  ok(await readCodeStatus(fixture, code), 200);
  const { accessToken } = ok(await fixture.redeemCode(code), 200);
  expect((await fixture.redeemCode(code.toLowerCase())).status).toBe(400);
  const token = harness.secrets.note('an access token', accessToken as string);
  harness.secrets.note('an access token', token.replace(/^gat_/, ''));
  return { id: id as string, token, code };
}

/** Expects 401 for invalid tokens, and for the valid token in other schemes and operations. */
async function expectInvalidUsesRejected(
  { app, platform, secrets }: StrongAuthenticationHarness,
  token: string,
): Promise<void> {
  const readOwnAgent = (authorization: string) =>
    app.call('GET', '/agents/me', undefined, { platform: null, headers: { authorization } });
  const invalidToken = secrets.note(
    'an invalid bearer token',
    `gat_${randomBytes(20).toString('hex')}`,
  );
  const encodedCredentials = Buffer.from(`${platform.clientId}:${platform.clientSecret}`).toString(
    'base64',
  );
  for (const authorization of [
    `Bearer ${invalidToken}`,
    `Bearer ${secrets.note('an invalid bearer token', randomPassword())}`,
    `Token ${token}`,
    token,
    `Basic ${encodedCredentials}`,
    `Basic ${Buffer.from(`${token}:${token}`).toString('base64')}`,
  ]) {
    expect([authorization, (await readOwnAgent(authorization)).status]).toEqual([
      authorization,
      401,
    ]);
  }
  const headers = { authorization: `Bearer ${token}` };
  expect((await app.call('GET', '/config', undefined, { platform: null, headers })).status).toBe(
    401,
  );
  const login = { clientId: token, clientSecret: token };
  expect((await app.call('GET', '/agents', undefined, { platform: login })).status).toBe(401);
}

/** Sends the secrets in unexpected paths, queries and bodies. Expects a status of 4xx for each. */
async function sendSecretsInOtherFields(
  fixture: Fixture,
  send: Send,
  ...secrets: string[]
): Promise<void> {
  for (const secret of secrets) {
    const path = `/agents/${secret}`;
    const body = quoteBody(secret, secret, 1, { description: 1, platformFeeOverride: secret });
    const responses: ApiResponse[] = [
      await fixture.callAsPlatform('GET', path),
      await fixture.callAsPlatform('GET', `/agents?isPaused=${secret}`),
      await fixture.callAsPlatform('GET', `/agents?cursor=${secret}&createdAfter=${secret}`),
      await fixture.callAsPlatform('GET', `/agents/device-codes/${secret}`),
      await fixture.callAsPlatform('POST', `${path}/device-codes`, undefined, idempotencyHeader()),
      await fixture.callAsPlatform(
        'POST',
        `${path}/actions/${secret}/approve`,
        undefined,
        idempotencyHeader(),
      ),
      await fixture.callAsPlatform('PATCH', `${path}/policy`, { defaultExecutionMode: secret }),
      await fixture.callAsPlatform('POST', '/agents', {
        name: 'X',
        customerId: secret,
        policy: secret,
      }),
      await fixture.callAsPlatform(
        'POST',
        '/agents',
        { name: 'X', customerId: secret, policy: policyBody({ permissions: [secret] }) },
        idempotencyHeader(),
      ),
      await send('GET', `/agents/me/transactions/${secret}`),
      await send('GET', `/agents/me/actions?status=${secret}`),
      await send('POST', `/agents/me/quotes/${secret}/execute`),
      await send('POST', '/agents/me/quotes', quoteBody(secret, secret, 1)),
      await send('POST', '/agents/me/quotes', body),
      await send('POST', '/agents/me/transfer-out', {
        ...{ source: { accountId: secret }, destination: { accountId: secret }, amount: 1 },
      }),
      await send('POST', '/agents/me/external-accounts', { currency: secret, accountInfo: secret }),
    ];
    for (const { status, body: replyBody } of responses) {
      expect([status, status >= 400 && status < 500, replyBody]).toEqual([status, true, replyBody]);
    }
  }
}

type Send = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

/** Connects an agent, sends payments and invalid requests, and deletes the agent. */
export async function runAgentScenario(harness: StrongAuthenticationHarness): Promise<void> {
  const { app, platform } = harness;
  // Redemptions are rate-limited by address.
  harness.wait();
  const fixture = agentFixture(app, { platform });
  const owner = await createHolder(harness);
  const { id, token, code } = await connect(harness, fixture, owner.id);
  const call = fixture.withToken(token);
  const send: Send = (method, path, body) =>
    call(method, path, body, { headers: idempotencyHeader() });

  ok(await send('GET', '/agents/me'), 200);
  const quote = ok(
    await send('POST', '/agents/me/quotes', quoteBody(owner.from, owner.to, 1_00)),
    201,
  );
  const requestedAction = ok(await send('POST', `/agents/me/quotes/${quote.id}/execute`), 200);
  const approvePath = `/agents/${id}/actions/${requestedAction.id}/approve`;
  ok(await fixture.callAsPlatform('POST', approvePath, undefined, idempotencyHeader()), 200);
  await app.settle();

  await expectInvalidUsesRejected(harness, token);
  await sendSecretsInOtherFields(
    fixture,
    send,
    token,
    code,
    harness.secrets.note('a misplaced secret', randomPassword()),
  );
  await harness.recordStoredData();
  ok(await fixture.callAsPlatform('DELETE', `/agents/${id}`), 204);
  expect((await send('GET', '/agents/me')).status).toBe(401);
}
