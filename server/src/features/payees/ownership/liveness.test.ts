// Proof of ownership by a liveness check, over the API and on the hosted page.
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
import { ownershipChallenges } from './store.ts';

const ownership = openForFile(startOwnership);

describe('liveness', () => {
  const requestPage = (method: 'GET' | 'POST', url: string, headers = {}) =>
    ownership.app.server.inject({ method, url: url.slice(new URL(url).origin.length), headers });

  async function createLinkedChallenge(address = evmWallet(nextSecret()).address) {
    const { id } = await ownership.add('ETHEREUM_WALLET', address);
    const body = ok(await ownership.challenge(id, 'LIVENESS'), 201);
    return { id, ...body } as { id: string; verificationLink: string; token: string };
  }

  it('completes after five seconds', async () => {
    const { id, verificationLink, token } = await createLinkedChallenge();
    expect(verificationLink).toBe(`http://127.0.0.1/ownership/${token}`);
    expect(statusAndCode(await ownership.verify(id, '0x00'))).toEqual([409, 'CONFLICT']);
    await ownership.app.advance(4_999);
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    await ownership.app.advance(1);
    expect(await ownership.statusOf(id)).toBe('ACTIVE');
    expect(await eventTypes(ownership.app, id)).toEqual(['EXTERNAL_ACCOUNT.STATUS_UPDATED']);
    expect((await requestPage('GET', verificationLink)).statusCode).toBe(404);
  });

  it('fails for an address with the suffix 002 and can be restarted', async () => {
    const { id } = await createLinkedChallenge(
      `0x${nextSecret().toString(16).padStart(37, 'a')}002`,
    );
    await ownership.app.advance(5_000);
    expect(await ownership.statusOf(id)).toBe('UNVERIFIED');
    ok(await ownership.challenge(id, 'LIVENESS'), 201);
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    await ownership.app.advance(5_000);
    expect(await ownership.statusOf(id)).toBe('UNVERIFIED');
  });

  it('is superseded by a newer challenge of another method', async () => {
    const wallet = evmWallet(nextSecret());
    const { id, verificationLink } = await createLinkedChallenge(wallet.address);
    const { messageToSign } = ok(await ownership.challenge(id), 201);
    await ownership.app.advance(10_000);
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    expect((await requestPage('POST', verificationLink)).statusCode).toBe(404);
    ok(await ownership.verify(id, wallet.sign(messageToSign)), 200);
    expect(await eventTypes(ownership.app, id)).toHaveLength(1);
  });

  it('has a page that is available with the link and can be used once', async () => {
    const { id, verificationLink } = await createLinkedChallenge();
    const response = await requestPage('GET', verificationLink);
    expect(response.statusCode).toBe(200);
    expect(response.body).toContain('Travel rule');
    expect(response.body).toContain('<form method="post"><button type="submit" class="primary">');
    expect(await ownership.statusOf(id)).toBe('PENDING_OWNERSHIP_VERIFICATION');
    // The content type of a form without fields in a browser.
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const confirmation = await requestPage('POST', verificationLink, headers);
    expect([confirmation.statusCode, await ownership.statusOf(id)]).toEqual([200, 'ACTIVE']);
    const usedLinkResponses = [
      await requestPage('POST', verificationLink),
      await requestPage('GET', verificationLink),
    ];
    expect(usedLinkResponses.map((each) => each.statusCode)).toEqual([404, 404]);
    await ownership.app.advance(10_000);
    expect(await eventTypes(ownership.app, id)).toHaveLength(1);
  });

  it('has a page that browsers neither frame nor cache', async () => {
    const { verificationLink, token } = await createLinkedChallenge();
    const { headers, body } = await requestPage('GET', verificationLink);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(body).not.toMatch(/<script|src=|href=(?!"\?answer=no")/);
    expect(body).toContain('<html lang="en">');
    expect(body).not.toContain(token);
    const rows = await ownership.app.runtime.db.query(
      'select coalesce(message, token_hash) as "storedText" from ownership_challenges',
      [],
    );
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('is not confirmed if the customer declines', async () => {
    const { id, verificationLink } = await createLinkedChallenge();
    const declineResponse = await requestPage('GET', `${verificationLink}?answer=no`);
    expect(declineResponse.statusCode).toBe(200);
    expect(declineResponse.body).toContain('Wallet not confirmed');
    expect(await ownership.statusOf(id)).not.toBe('ACTIVE');
    expect((await requestPage('GET', verificationLink)).body).toContain('Confirm wallet');
  });

  it('fails after expiry of the link', async () => {
    const { id, verificationLink } = await createLinkedChallenge();
    await ownership.app.operate(async (ctx) => {
      const row = await ctx.read(ownershipChallenges, id);
      if (row) ctx.update(ownershipChallenges, row, { expires_at: ctx.now });
    }, ownership.platform);
    const expiredResponse = await requestPage('GET', verificationLink);
    expect(expiredResponse.statusCode).toBe(404);
    expect(expiredResponse.body).toContain('This link no longer works');
    expect(expiredResponse.body).toContain('<span class="platform">Travel rule</span>');
    expect(expiredResponse.body).not.toMatch(/<(dl|form)\b/);
    await ownership.app.settle();
    expect(await ownership.statusOf(id)).toBe('UNVERIFIED');
  });

  it('is removed with the account', async () => {
    const deletedAccount = await createLinkedChallenge();
    ok(await ownership.call('DELETE', `${OWNER_PATHS.customer}/${deletedAccount.id}`), 204);
    expect((await requestPage('GET', deletedAccount.verificationLink)).statusCode).toBe(404);
    await ownership.app.advance(5_000);
    expect(
      await ownership.app.runtime.db.read(ownershipChallenges, deletedAccount.id),
    ).toBeUndefined();
    expect(await eventTypes(ownership.app, deletedAccount.id)).toEqual([]);
  });
});
