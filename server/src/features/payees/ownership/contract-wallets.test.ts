import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { opened } from '../../../../test/kit/app/test-app.ts';
import { startOwnership, statusAndCode } from '../../../../test/kit/customers/ownership.ts';

const own = opened(startOwnership);

describe('a contract wallet', () => {
  const YES = `0x1626ba7e${'00'.repeat(28)}`;
  const says = (result: unknown) => ({ status: 200, body: JSON.stringify({ id: 1, result }) });

  it('is asked on its chain, with EIP-191 of the text and the signature as it is', async () => {
    const { id, wallet, messageToSign } = await own.waiting('customer', 'BASE_WALLET');
    own.node.asked.length = 0;
    own.node.respondWith(says(YES));
    const proof = 'ab'.repeat(130);
    expect((await own.verify(id, `0x${proof}`)).body.status).toBe('ACTIVE');
    expect(own.node.asked).toHaveLength(1);
    expect(own.node.asked[0]).toMatchObject({
      method: 'eth_call',
      params: [{ to: wallet.address }, 'latest'],
    });
    const { data } = own.node.asked[0]!.params[0];
    expect(data.slice(0, 10)).toBe('0x1626ba7e');
    expect(data).toContain(proof);
    expect(messageToSign).toContain(wallet.address);
  });

  it('that is a key after all needs no node', async () => {
    const { id, wallet, messageToSign } = await own.waiting('customer', 'BASE_WALLET');
    own.node.asked.length = 0;
    ok(await own.verify(id, wallet.sign(messageToSign)), 200);
    expect(own.node.asked).toEqual([]);
  });

  it.each([
    ['no', says(`0xffffffff${'00'.repeat(28)}`)],
    ['that there is no code', says('0x')],
    ['that it reverted', { status: 200, body: '{"error":{"code":3,"message":"reverted"}}' }],
  ])('that says %s is a bad signature', async (_, answer) => {
    const { id } = await own.waiting('customer', 'BASE_WALLET');
    own.node.respondWith(answer);
    expect((await own.verify(id, '0xabcd')).status).toBe(400);
    expect(await own.statusOf(id)).toBe('UNVERIFIED');
  });

  it.each([
    ['nothing', 'nothing' as const],
    ['an error page', { status: 502, body: '<html>' }],
    ['that it is busy', { status: 200, body: '{"error":{"code":-32005,"message":"limit"}}' }],
  ])('whose node says %s is asked again', async (_, answer) => {
    const { id } = await own.waiting('customer', 'BASE_WALLET');
    own.node.respondWith(answer);
    const headers = { 'idempotency-key': `node ${id}` };
    const silent = await own.verify(id, '0xabcd', {}, 'customer', headers);
    expect(statusAndCode(silent)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(silent.headers['retry-after']).toBe('5');
    expect(await own.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    own.node.respondWith(says(YES));
    ok(await own.verify(id, '0xabcd', {}, 'customer', headers), 200);
  });

  it('on a chain without a node is judged by its key alone', async () => {
    const { id } = await own.waiting('customer', 'POLYGON_WALLET');
    own.node.respondWith(says(YES));
    expect((await own.verify(id, '0xabcd')).status).toBe(400);
  });
});
