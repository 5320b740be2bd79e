// Device codes: single use, validity, replacement and rate limit.
import { describe, expect, it } from 'vitest';
import { agentFixture, policyBody } from '../../../../test/kit/agents/agents.ts';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { outputsOf } from '../../../../test/kit/secrets/search.ts';
import { attemptLimits } from '../../../runtime/operation/attempt-limiter.ts';
import { agentAudit } from '../store.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

const app = testApp();
const fixture = agentFixture(app);

/** An agent that is not connected, without previous attempts. */
async function createUnconnectedAgent() {
  app.effects.set(app.effects.now() + MINUTE_MS);
  return fixture.createUnconnectedAgent((await createCustomer(app)).id);
}

const statusOf = (code: string, platform = app.platform) =>
  app.call('GET', `/agents/device-codes/${code}/status`, undefined, { platform });

const issueAnotherCode = (agentId: string, headers?: Record<string, string>) =>
  fixture.callAsPlatform('POST', `/agents/${agentId}/device-codes`, undefined, headers);

const rejectionOf = ({ status, body }: Awaited<ReturnType<typeof fixture.redeemCode>>) => [
  status,
  body.code,
  body.reason,
];

describe('redeemAgentDeviceCode', () => {
  it('connects one program', async () => {
    const { agent, deviceCode } = await createUnconnectedAgent();
    expect(ok(await statusOf(deviceCode.code), 200)).toEqual({
      code: deviceCode.code,
      redeemed: false,
    });
    app.effects.set(app.effects.now() + 1_000);
    const connectedBody = ok(await fixture.redeemCode(deviceCode.code), 200);
    expect(connectedBody).toEqual({
      agentId: agent.id,
      agentName: agent.name,
      accessToken: expect.stringMatching(/^gat_[0-9a-f]{40}$/),
      policy: policyBody(),
    });
    expect(ok(await statusOf(deviceCode.code), 200).redeemed).toBe(true);
    const fetchedAgent = ok(await fixture.callAsPlatform('GET', `/agents/${agent.id}`), 200);
    expect(fetchedAgent.isConnected).toBe(true);
    expect(fetchedAgent.updatedAt > agent.updatedAt).toBe(true);
    const secondResponse = await fixture.redeemCode(deviceCode.code);
    expect(rejectionOf(secondResponse)).toEqual([
      400,
      'INVALID_INPUT',
      'code: was already redeemed. Request a new code from the platform',
    ]);
    const meResponse = await fixture.withToken(connectedBody.accessToken)('GET', '/agents/me');
    expect(ok(meResponse, 200).id).toBe(agent.id);
    const auditEntries = await app.runtime.db.find(agentAudit, { agent_id: agent.id });
    const auditEntry = auditEntries.find(({ what }) => what === 'CONNECTED');
    expect(auditEntry).toMatchObject({ actor: agent.id, customer_id: agent.customerId });
  });

  it('accepts lower case', async () => {
    const { deviceCode } = await createUnconnectedAgent();
    const lowerCaseCode = deviceCode.code.toLowerCase();
    expect(ok(await statusOf(lowerCaseCode), 200).code).toBe(deviceCode.code);
    ok(await fixture.redeemCode(lowerCaseCode), 200);
  });

  it('succeeds for one of two concurrent requests', async () => {
    for (let round = 0; round < 4; round++) {
      const { agent, deviceCode } = await createUnconnectedAgent();
      const responses = await Promise.all([
        fixture.redeemCode(deviceCode.code),
        fixture.redeemCode(deviceCode.code),
      ]);
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
      const acceptedResponse = responses.find(({ status }) => status === 200);
      const meResponse = await fixture.withToken(acceptedResponse?.body.accessToken)(
        'GET',
        '/agents/me',
      );
      expect(ok(meResponse, 200).id).toBe(agent.id);
    }
  });

  it('accepts a code for 24 hours', async () => {
    const [expiredCode, validCode] = [
      await createUnconnectedAgent(),
      await createUnconnectedAgent(),
    ];
    app.effects.set(Date.parse(validCode.deviceCode.expiresAt) - 1);
    ok(await fixture.redeemCode(validCode.deviceCode.code), 200);
    expect(Date.parse(validCode.deviceCode.expiresAt)).toBe(
      Date.parse(validCode.agent.createdAt) + DAY_MS,
    );
    app.effects.set(Date.parse(validCode.deviceCode.expiresAt));
    const expiredError = [
      400,
      'INVALID_INPUT',
      'code: has expired. Request a new code from the platform',
    ];
    expect(rejectionOf(await fixture.redeemCode(expiredCode.deviceCode.code))).toEqual(
      expiredError,
    );
    expect(ok(await statusOf(expiredCode.deviceCode.code), 200).redeemed).toBe(false);
    const { code } = ok(await issueAnotherCode(expiredCode.agent.id), 201);
    ok(await fixture.redeemCode(code), 200);
  });

  it('rejects unknown codes and codes of a deleted customer', async () => {
    const { agent, deviceCode } = await createUnconnectedAgent();
    const unknownError = [404, 'NOT_FOUND', 'Device code not found.'];
    for (const code of ['x', '%00', 'SERVICE-AGENT-2222-2222-2222']) {
      expect(rejectionOf(await fixture.redeemCode(code))).toEqual(unknownError);
    }
    ok(await app.call('DELETE', `/customers/${agent.customerId}`), 200);
    expect(rejectionOf(await fixture.redeemCode(deviceCode.code))).toEqual(unknownError);
  });

  it('ignores credentials', async () => {
    const { deviceCode } = await createUnconnectedAgent();
    const path = `/agents/device-codes/${deviceCode.code}/redeem`;
    ok(await app.call('POST', path, undefined, { platform: app.other }), 200);
  });

  it('returns a token only once for an Idempotency-Key', async () => {
    const { deviceCode } = await createUnconnectedAgent();
    const path = `/agents/device-codes/${deviceCode.code}/redeem`;
    const headers = { 'idempotency-key': 'redeem' };
    ok(await app.call('POST', path, undefined, { platform: null, headers }), 200);
    const secondResponse = await app.call('POST', path, undefined, { platform: null, headers });
    expect([secondResponse.status, secondResponse.headers['idempotency-replayed']]).toEqual([
      400,
      undefined,
    ]);
  });

  it('stores code and token only as hashes', async () => {
    const { agent, deviceCode } = await createUnconnectedAgent();
    const { accessToken } = ok(await fixture.redeemCode(deviceCode.code), 200);
    const outputText = JSON.stringify(await outputsOf(app));
    expect(outputText).toContain(agent.id);
    expect(outputText).not.toContain(deviceCode.code.slice('SERVICE-AGENT-'.length));
    expect(outputText).not.toContain(accessToken.slice('gat_'.length));
  });
});

describe('redemption attempts', () => {
  const redeemFrom = (remoteAddress: string, code = 'SERVICE-AGENT-2222-2222-2222') =>
    app.server.inject({
      method: 'POST',
      url: `/2025-10-13/agents/device-codes/${code}/redeem`,
      remoteAddress,
    });

  it('are limited to ten per minute and address, including valid attempts', async () => {
    const { deviceCode } = await createUnconnectedAgent();
    const { deviceCode: nextCode } = await fixture.createUnconnectedAgent(
      (await createCustomer(app)).id,
    );
    const address = '198.51.100.7';
    const statuses = [(await redeemFrom(address, deviceCode.code)).statusCode];
    app.effects.set(app.effects.now() + 20_000);
    for (let index = 0; index < 9; index++) statuses.push((await redeemFrom(address)).statusCode);
    expect(statuses).toEqual([200, ...Array(9).fill(404)]);
    const rejectedResponse = await redeemFrom(address, nextCode.code);
    expect([rejectedResponse.statusCode, rejectedResponse.json().code]).toEqual([
      429,
      'RATE_LIMITED',
    ]);
    expect(rejectedResponse.headers['retry-after']).toBe('40');
    const limitRows = await app.runtime.db.query(
      "select id from attempt_limits where id like 'agent redeem %'",
    );
    expect(JSON.stringify(limitRows)).not.toContain(address);
    expect((await redeemFrom('198.51.100.8')).statusCode).toBe(404);
    app.effects.set(app.effects.now() + 40_000);
    expect((await redeemFrom(address, nextCode.code)).statusCode).toBe(200);
    expect((await redeemFrom(address)).statusCode).toBe(429);
  });

  it('are counted for concurrent requests and per network', async () => {
    await createUnconnectedAgent();
    const addresses = Array.from({ length: 14 }, (_, index) => `2001:db8:0:7::${index + 1}`);
    const responses = await Promise.all(addresses.map((address) => redeemFrom(address)));
    const rejectedResponses = responses.filter(({ statusCode }) => statusCode !== 404);
    expect(rejectedResponses.length).toBeGreaterThanOrEqual(4);
    const rows = await app.runtime.db.find(attemptLimits, {});
    expect(Math.max(...rows.map(({ at }) => at.length))).toBeLessThanOrEqual(10);
  });
});

describe('regenerateAgentDeviceCode', () => {
  it('replaces the previous code', async () => {
    const { agent, deviceCode } = await createUnconnectedAgent();
    const secondCode = ok(await issueAnotherCode(agent.id), 201);
    expect(secondCode).toMatchObject({ agentId: agent.id, redeemed: false });
    expect(secondCode.code).not.toBe(deviceCode.code);
    const replacedError = [
      400,
      'INVALID_INPUT',
      'code: was replaced by another code. Use the latest code',
    ];
    expect(rejectionOf(await fixture.redeemCode(deviceCode.code))).toEqual(replacedError);
    expect(ok(await statusOf(deviceCode.code), 200).redeemed).toBe(false);
    ok(await fixture.redeemCode(secondCode.code), 200);
    const connectedResponse = await issueAnotherCode(agent.id);
    expect([connectedResponse.status, connectedResponse.body.code]).toEqual([409, 'CONFLICT']);
  });

  it('permits one connection after concurrent requests', async () => {
    for (let round = 0; round < 4; round++) {
      const { agent, deviceCode } = await createUnconnectedAgent();
      const [redemptionResponse, ...codeResponses] = await Promise.all([
        fixture.redeemCode(deviceCode.code),
        issueAnotherCode(agent.id),
        issueAnotherCode(agent.id),
      ]);
      const codes = codeResponses
        .filter(({ status }) => status === 201)
        .map(({ body }) => body.code);
      let connectionCount = redemptionResponse.status === 200 ? 1 : 0;
      for (const code of codes) {
        if ((await fixture.redeemCode(code)).status === 200) connectionCount++;
      }
      expect(connectionCount).toBe(1);
    }
  });

  it('returns the same code to a replay', async () => {
    const { agent } = await createUnconnectedAgent();
    const headers = { 'idempotency-key': 'another code' };
    const firstCode = ok(await issueAnotherCode(agent.id, headers), 201);
    expect(ok(await issueAnotherCode(agent.id, headers), 201)).toEqual(firstCode);
    ok(await fixture.redeemCode(firstCode.code), 200);
  });

  it('rejects an Idempotency-Key that is too long', async () => {
    const { agent } = await createUnconnectedAgent();
    const { status, body } = await issueAnotherCode(agent.id, {
      'idempotency-key': 'x'.repeat(256),
    });
    expect([status, body.details.errors[0].field]).toEqual([400, 'Idempotency-Key']);
  });
});

describe('getAgentDeviceCodeStatus', () => {
  it('returns NOT_FOUND to another platform', async () => {
    const { deviceCode } = await createUnconnectedAgent();
    const foreignResponse = await statusOf(deviceCode.code, app.other);
    expect([foreignResponse.status, foreignResponse.body.code]).toEqual([404, 'NOT_FOUND']);
    expect(foreignResponse.body).toEqual((await statusOf('x', app.other)).body);
  });
});

it('codes begin with the service name prefix', async () => {
  const acmeApp = await startApp({ serviceNamePrefix: 'AcmePay' });
  try {
    const { deviceCode } = await agentFixture(acmeApp).createUnconnectedAgent(
      (await createCustomer(acmeApp)).id,
    );
    expect(deviceCode.code).toMatch(/^ACMEPAY-AGENT(-[2-9A-HJKMNP-Z]{4}){3}$/);
    ok(await agentFixture(acmeApp).redeemCode(deviceCode.code), 200);
  } finally {
    await acmeApp.close();
  }
});
