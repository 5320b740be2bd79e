// Authentication of agents by token: immediate revocation and separate rate limits.
import { describe, expect, it } from 'vitest';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import { accountInfos, createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { agentBearers } from './authenticator.ts';

type Agent = Awaited<ReturnType<ReturnType<typeof agentFixture>['connectAgent']>>;

const app = testApp();
const fixture = agentFixture(app);

const getAgentMe = (authorization: string, targetApp = app) =>
  targetApp.call('GET', '/agents/me', undefined, { platform: null, headers: { authorization } });

describe('access token', () => {
  it('is accepted as a bearer token only', async () => {
    const { accessToken, id } = await fixture.connectAgent((await createCustomer(app)).id);
    for (const validHeader of [`Bearer ${accessToken}`, `bearer  ${accessToken} `]) {
      expect(ok(await getAgentMe(validHeader), 200).id).toBe(id);
    }
    const basicCredentials = Buffer.from(`${accessToken}:`).toString('base64');
    for (const invalidHeader of [
      '',
      accessToken,
      'Bearer',
      `Bearer ${accessToken}0`,
      `Bearer ${accessToken.slice(0, -1)}`,
      `Bearer ${accessToken.toUpperCase()}`,
      `Bearer ${accessToken} ${accessToken}`,
      `Token ${accessToken}`,
      `Basic ${basicCredentials}`,
    ]) {
      const { status, body } = await getAgentMe(invalidHeader);
      expect([invalidHeader, status, body.code]).toEqual([invalidHeader, 401, 'UNAUTHORIZED']);
    }
  });

  it('is revoked with the agent, under concurrent requests', async () => {
    const agent = await fixture.connectAgent((await createCustomer(app)).id);
    let isDeleted = false;
    const requests = Array.from({ length: 6 }, async () => {
      const statusesAfterDeletion: number[] = [];
      while (statusesAfterDeletion.length < 3) {
        const wasSentAfterDeletion = isDeleted;
        const { status } = await agent.call('GET', '/agents/me');
        if (wasSentAfterDeletion) statusesAfterDeletion.push(status);
      }
      return statusesAfterDeletion;
    });
    ok(await fixture.callAsPlatform('DELETE', `/agents/${agent.id}`), 204);
    isDeleted = true;
    expect(new Set((await Promise.all(requests)).flat())).toEqual(new Set([401]));
  });

  it('is revoked with its customer', async () => {
    const person = await createCustomer(app);
    const agent = await fixture.connectAgent(person.id);
    ok(await agent.call('GET', '/agents/me'), 200);
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    expect((await agent.call('GET', '/agents/me')).status).toBe(401);
  });

  it('authenticates an agent of a production platform', async () => {
    const platform = app.production;
    const person = ok(
      await app.call('POST', '/customers', { customerType: 'INDIVIDUAL' }, { platform }),
      201,
    );
    const agent = await agentFixture(app, { platform }).connectAgent(person.id);
    expect(ok(await agent.call('GET', '/agents/me'), 200).customerId).toBe(person.id);
  });
});

it('the authenticator caches the latest valid tokens and evicts the oldest', async () => {
  const bearers = agentBearers(app.runtime, 2);
  const person = await createCustomer(app);
  const [firstHeader, secondHeader, thirdHeader] = await Promise.all(
    [1, 2, 3].map(async () => `Bearer ${(await fixture.connectAgent(person.id)).accessToken}`),
  );
  for (const each of [firstHeader, secondHeader, secondHeader]) await bearers.callerOf(each);
  expect([firstHeader, secondHeader].map(bearers.wasValid)).toEqual([true, true]);
  await bearers.callerOf(thirdHeader);
  expect([firstHeader, secondHeader, thirdHeader].map(bearers.wasValid)).toEqual([
    false,
    true,
    true,
  ]);
});

it('idempotency keys are separate for each agent', async () => {
  const [firstAgent, secondAgent] = [await fixture.createAgent(), await fixture.createAgent()];
  const body = { currency: 'USD', accountInfo: accountInfos.USD?.('000') };
  const headers = { 'idempotency-key': 'shared' };
  const path = '/agents/me/external-accounts';
  const firstBody = ok(await firstAgent.call('POST', path, body, { headers }), 201);
  const secondAgentResponse = await secondAgent.call('POST', path, body, { headers });
  expect(secondAgentResponse.headers['idempotency-replayed']).toBeUndefined();
  expect(ok(secondAgentResponse, 201).customerId).toBe(secondAgent.customer.id);
  const replayedResponse = await firstAgent.call('POST', path, body, { headers });
  expect(replayedResponse.headers['idempotency-replayed']).toBe('true');
  expect(replayedResponse.body).toEqual(firstBody);
  // The platform adds an account with another number and the same Idempotency-Key.
  const platformBody = {
    customerId: firstAgent.customer.id,
    ...body,
    accountInfo: accountInfos.USD?.('000'),
  };
  const platformResponse = await fixture.callAsPlatform(
    'POST',
    '/customers/external-accounts',
    platformBody,
    headers,
  );
  expect(platformResponse.headers['idempotency-replayed']).toBeUndefined();
  expect(ok(platformResponse, 201).id).not.toBe(firstBody.id);
});

describe('rate limits', () => {
  it('apply to each agent, and in total to its platform', async () => {
    const limitedApp = await startApp({ rateLimits: { requests: 2 } });
    try {
      const separateFixture = agentFixture(limitedApp);
      const person = await createCustomer(limitedApp);
      const advanceClock = () => limitedApp.effects.set(limitedApp.effects.now() + 10_000);
      const agents = [];
      for (let index = 0; index < 3; index++) {
        agents.push(await separateFixture.connectAgent(person.id));
        advanceClock();
      }
      const [firstAgent, secondAgent, thirdAgent] = agents as [Agent, Agent, Agent];
      // The limit of an agent is one request per second with a burst of two.
      for (const status of [200, 200, 429]) {
        expect((await firstAgent.call('GET', '/agents/me')).status).toBe(status);
      }
      for (const remainingCount of ['1', '0']) {
        const reply = await secondAgent.call('GET', '/agents/me');
        expect([reply.status, reply.headers['ratelimit-remaining']]).toEqual([200, remainingCount]);
      }
      // The first and the second agent have exhausted the limit of the platform.
      expect((await thirdAgent.call('GET', '/agents/me')).status).toBe(429);
      expect((await separateFixture.callAsPlatform('GET', `/agents/${firstAgent.id}`)).status).toBe(
        429,
      );
      advanceClock();
      ok(await separateFixture.callAsPlatform('GET', `/agents/${firstAgent.id}`), 200);
    } finally {
      await limitedApp.close();
    }
  });

  it('apply to invalid tokens by address and exempt valid tokens', async () => {
    const limitedApp = await startApp({ rateLimits: { requests: 0, quotes: 0, rejected: 1 } });
    try {
      const separateFixture = agentFixture(limitedApp);
      const person = await createCustomer(limitedApp);
      const [validAgent, newAgent] = [
        await separateFixture.connectAgent(person.id),
        await separateFixture.connectAgent(person.id),
      ];
      ok(await validAgent.call('GET', '/agents/me'), 200);
      const sendInvalidToken = () => getAgentMe(`Bearer gat_${'0'.repeat(40)}`, limitedApp);
      expect([(await sendInvalidToken()).status, (await sendInvalidToken()).status]).toEqual([
        401, 401,
      ]);
      expect((await sendInvalidToken()).status).toBe(429);
      expect((await limitedApp.call('GET', '/config', undefined, { platform: null })).status).toBe(
        429,
      );
      ok(await validAgent.call('GET', '/agents/me'), 200);
      expect((await newAgent.call('GET', '/agents/me')).status).toBe(429);
      // A revoked token loses its exemption after the next authentication.
      ok(await separateFixture.callAsPlatform('DELETE', `/agents/${validAgent.id}`), 204);
      expect((await validAgent.call('GET', '/agents/me')).status).toBe(401);
      expect((await validAgent.call('GET', '/agents/me')).status).toBe(429);
    } finally {
      await limitedApp.close();
    }
  });
});
