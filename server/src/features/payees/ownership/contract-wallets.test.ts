// Proofs of contract wallets, which a node of the chain confirms.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import { startOwnership, statusAndCode } from '../../../../test/kit/customers/ownership.ts';

const ownership = openForFile(startOwnership);

describe('the proof of a wallet', () => {
  const MAGIC_VALUE = `0x1626ba7e${'00'.repeat(28)}`;
  const replyWith = (result: unknown) => ({ status: 200, body: JSON.stringify({ id: 1, result }) });

  it('is verified by a call of the wallet contract with the unmodified signature', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof(
      'customer',
      'BASE_WALLET',
    );
    ownership.node.requested.length = 0;
    ownership.node.respondWith(replyWith(MAGIC_VALUE));
    const proof = 'ab'.repeat(130);
    expect((await ownership.verify(id, `0x${proof}`)).body.status).toBe('ACTIVE');
    expect(ownership.node.requested).toHaveLength(1);
    expect(ownership.node.requested[0]).toMatchObject({
      method: 'eth_call',
      params: [{ to: wallet.address }, 'latest'],
    });
    const { data } = ownership.node.requested[0]!.params[0];
    expect(data.slice(0, 10)).toBe('0x1626ba7e');
    expect(data).toContain(proof);
    expect(messageToSign).toContain(wallet.address);
  });

  it('requires no node if the address belongs to a key', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof(
      'customer',
      'BASE_WALLET',
    );
    ownership.node.requested.length = 0;
    ok(await ownership.verify(id, wallet.sign(messageToSign)), 200);
    expect(ownership.node.requested).toEqual([]);
  });

  it.each([
    ['a wrong magic value', replyWith(`0xffffffff${'00'.repeat(28)}`)],
    ['no code', replyWith('0x')],
    ['a revert', { status: 200, body: '{"error":{"code":3,"message":"reverted"}}' }],
  ])('sets the account to UNVERIFIED after %s', async (_, response) => {
    const { id } = await ownership.createPendingProof('customer', 'BASE_WALLET');
    ownership.node.respondWith(response);
    expect((await ownership.verify(id, '0xabcd')).status).toBe(400);
    expect(await ownership.statusOf(id)).toBe('UNVERIFIED');
  });

  it.each([
    ['no reply', 'nothing' as const],
    ['an error page', { status: 502, body: '<html>' }],
    ['a rate limit error', { status: 200, body: '{"error":{"code":-32005,"message":"limit"}}' }],
  ])('can be verified again after %s', async (_, response) => {
    const { id } = await ownership.createPendingProof('customer', 'BASE_WALLET');
    ownership.node.respondWith(response);
    const headers = { 'idempotency-key': `node ${id}` };
    const unavailableResponse = await ownership.verify(id, '0xabcd', {}, 'customer', headers);
    expect(statusAndCode(unavailableResponse)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(unavailableResponse.headers['retry-after']).toBe('5');
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    ownership.node.respondWith(replyWith(MAGIC_VALUE));
    ok(await ownership.verify(id, '0xabcd', {}, 'customer', headers), 200);
  });

  it('is rejected on a chain without a node', async () => {
    const { id } = await ownership.createPendingProof('customer', 'POLYGON_WALLET');
    ownership.node.respondWith(replyWith(MAGIC_VALUE));
    expect((await ownership.verify(id, '0xabcd')).status).toBe(400);
  });
});
