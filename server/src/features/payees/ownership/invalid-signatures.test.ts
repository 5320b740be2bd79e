// Rejected proofs of ownership, and the status of the account afterwards.
import { describe, expect, it } from 'vitest';
import { eventTypes, ok } from '../../../../test/kit/app/fixtures.ts';
import { openForFile } from '../../../../test/kit/app/test-app.ts';
import {
  nextSecret,
  OWNER_PATHS,
  startOwnership,
  statusAndCode,
} from '../../../../test/kit/customers/ownership.ts';
import { evmWallet } from '../../../../test/kit/wallets/chain-wallets.ts';
import { transitionExternalAccount } from '../external-accounts/index.ts';
import { externalAccounts } from '../external-accounts/store.ts';

const ownership = openForFile(startOwnership);

describe('a rejected signature', () => {
  it('sets the account to UNVERIFIED and requires a new challenge', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof();
    const rejectedResponse = await ownership.verify(id, evmWallet(9n).sign(messageToSign));
    expect(statusAndCode(rejectedResponse)).toEqual([400, 'INVALID_INPUT']);
    expect(rejectedResponse.body.details.errors[0].field).toBe('signature');
    expect(await ownership.statusOf(id)).toBe('UNVERIFIED');
    expect(statusAndCode(await ownership.verify(id, wallet.sign(messageToSign)))).toEqual([
      409,
      'CONFLICT',
    ]);

    const secondChallenge = ok(await ownership.challenge(id), 201);
    expect(secondChallenge.messageToSign).not.toBe(messageToSign);
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    ok(await ownership.verify(id, wallet.sign(secondChallenge.messageToSign)), 200);
    const events = (await ownership.app.events()).filter((each) => each.subject === id);
    expect(events.map((each) => each.data.status)).toEqual([
      'UNVERIFIED',
      'PENDING_OWNERSHIP_VERIFICATION',
      'ACTIVE',
    ]);
  });

  it('can be valid except that its challenge has expired', async () => {
    for (const [offsetMs, status, accountStatus] of [
      [-1, 200, 'ACTIVE'],
      [0, 400, 'UNVERIFIED'],
    ] as const) {
      const { id, wallet, messageToSign, expiresAt } = await ownership.createPendingProof();
      ownership.app.effects.set(Date.parse(expiresAt) + offsetMs);
      const response = await ownership.verify(id, wallet.sign(messageToSign));
      expect([response.status, await ownership.statusOf(id)]).toEqual([status, accountStatus]);
    }
  });

  it('can be valid except that its challenge was superseded', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof();
    const { messageToSign: newerMessage } = ok(await ownership.challenge(id), 201);
    expect(newerMessage).not.toBe(messageToSign);
    expect((await ownership.verify(id, wallet.sign(messageToSign))).status).toBe(400);
    expect((await ownership.verify(id, wallet.sign(newerMessage))).status).toBe(409);
  });

  it('changes an ACTIVE wallet without a required proof to UNVERIFIED', async () => {
    const wallet = evmWallet(nextSecret());
    const { id, status } = ok(
      await ownership.app.call('POST', OWNER_PATHS.platform, {
        currency: 'USDC',
        ownershipType: 'FIRST_PARTY',
        accountInfo: { accountType: 'BASE_WALLET', address: wallet.address },
      }),
      201,
    );
    expect(status).toBe('ACTIVE');
    const path = `${OWNER_PATHS.platform}/${id}`;
    const requestChallenge = async () =>
      ok(
        await ownership.app.call('POST', `${path}/challenge`, { method: 'WALLET_SIGNATURE' }),
        201,
      );
    ownership.node.respondWith({ status: 200, body: '{"result":"0x"}' });
    await requestChallenge();
    expect((await ownership.app.call('POST', `${path}/verify`, { signature: '0x00' })).status).toBe(
      400,
    );
    expect((await ownership.app.call('GET', path)).body.status).toBe('UNVERIFIED');
    const { messageToSign } = await requestChallenge();
    const signature = wallet.sign(messageToSign);
    ok(await ownership.app.call('POST', `${path}/verify`, { signature }), 200);
  });

  it('is replayed for one idempotency key', async () => {
    const { id, wallet, messageToSign } = await ownership.createPendingProof();
    const headers = { 'idempotency-key': 'invalid signature' };
    const firstResponse = await ownership.verify(id, '0x1234', {}, 'customer', headers);
    const secondResponse = await ownership.verify(id, '0x1234', {}, 'customer', headers);
    expect(firstResponse.status).toBe(400);
    expect([secondResponse.status, secondResponse.body]).toEqual([400, firstResponse.body]);
    expect(secondResponse.headers['idempotency-replayed']).toBe('true');
    expect(await eventTypes(ownership.app, id)).toHaveLength(1);
    const otherHeaders = { 'idempotency-key': 'no challenge' };
    expect(
      (await ownership.verify(id, wallet.sign(messageToSign), {}, 'customer', otherHeaders)).status,
    ).toBe(409);
  });

  it('with a malformed value leaves the account unchanged', async () => {
    const { id } = await ownership.createPendingProof();
    for (const body of [
      {},
      { signature: 5 },
      { signature: '' },
      { signature: 'x'.repeat(16_385) },
    ]) {
      const response = await ownership.call('POST', `${OWNER_PATHS.customer}/${id}/verify`, body);
      expect(response.body.details.errors.map((each: { field: string }) => each.field)).toEqual([
        'signature',
      ]);
    }
    const incompleteResponse = await ownership.call(
      'POST',
      `${OWNER_PATHS.customer}/${id}/verify`,
      {
        signatureScheme: 'bip322',
      },
    );
    expect(incompleteResponse.body.details.errors).toHaveLength(2);
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    expect((await ownership.challenge(id, 'FAX')).status).toBe(400);
  });

  it('leaves an account under review or disabled unchanged', async () => {
    const wallet = evmWallet(nextSecret());
    const { id } = ok(
      await ownership.app.call('POST', OWNER_PATHS.platform, {
        currency: 'USDC',
        ownershipType: 'FIRST_PARTY',
        accountInfo: { accountType: 'ETHEREUM_WALLET', address: wallet.address },
      }),
      201,
    );
    const path = `${OWNER_PATHS.platform}/${id}`;
    ok(await ownership.app.call('POST', `${path}/challenge`, { method: 'WALLET_SIGNATURE' }), 201);
    for (const event of ['review', 'reject'] as const) {
      await ownership.app.operate(async (ctx) => {
        const row = await ctx.read(externalAccounts, id);
        if (row) transitionExternalAccount(ctx, row, event);
      });
      expect(
        (await ownership.app.call('POST', `${path}/verify`, { signature: '0x00' })).status,
      ).toBe(409);
      const challengeResponse = await ownership.app.call('POST', `${path}/challenge`, {
        method: 'LIVENESS',
      });
      expect(challengeResponse.status).toBe(409);
    }
    expect((await ownership.app.call('GET', path)).body.status).toBe('INACTIVE');
  });
});
