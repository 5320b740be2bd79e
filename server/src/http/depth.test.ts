import { describe, expect, it } from 'vitest';
import { startApp } from '../../test/harness.ts';
import { isDeeperThan } from './depth.ts';

const nested = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);

describe('isDeeperThan', () => {
  it('counts objects and lists alike', () => {
    expect(isDeeperThan(3, nested(3))).toBe(false);
    expect(isDeeperThan(3, nested(4))).toBe(true);
    expect(isDeeperThan(2, '{"a":{"b":1},"c":{"d":2}}')).toBe(false);
    expect(isDeeperThan(2, '{"a":{"b":[1]}}')).toBe(true);
    expect(isDeeperThan(1, JSON.stringify([1, 2, 3]) + ' '.repeat(99))).toBe(false);
  });

  it('does not count what stands in strings', () => {
    expect(isDeeperThan(1, JSON.stringify(['[[[[{{{{']))).toBe(false);
    expect(isDeeperThan(1, JSON.stringify(['\\" [[[ \\', '{"{[']))).toBe(false);
    expect(isDeeperThan(1, JSON.stringify(['\\', ['x']]))).toBe(true);
  });

  it('is quick on the largest body', () => {
    const started = performance.now();
    expect(isDeeperThan(32, '[1],'.repeat(262_144))).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe('a body that is nested too deep', () => {
  it('is refused, wherever the depth is', async () => {
    const app = await startApp();
    const login = Buffer.from(`${app.platform.clientId}:${app.platform.clientSecret}`);
    const send = (url: string, payload: string) =>
      app.server.inject({
        method: 'POST',
        url: `/2025-10-13${url}`,
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${login.toString('base64')}`,
        },
        payload,
      });
    const deep = nested(200_000);
    const beneficiary = `{"beneficiaryType":"INDIVIDUAL","fullName":"A","x":${deep}}`;
    const account = `{"currency":"USD","accountInfo":{"accountType":"USD_ACCOUNT",
      "accountNumber":"123456000","routingNumber":"021000021","beneficiary":${beneficiary}}}`;
    for (const reply of [
      await send('/platform/external-accounts', account),
      await send('/quotes', `{"senderCustomerInfo":${deep}}`),
      await send('/quotes', deep),
    ]) {
      expect(reply.statusCode).toBe(400);
      expect(reply.json()).toMatchObject({
        code: 'INVALID_INPUT',
        reason: expect.stringMatching(/nested/),
      });
    }
    await app.close();
  });
});
