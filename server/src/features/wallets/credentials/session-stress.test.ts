// Sessions under load: a wallet with very many expired sessions, and a refresh while the credential
// of the session is removed.
import { beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testAppForEach } from '../../../../test/kit/app/test-app.ts';
import {
  generateKeys,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { errorOf } from '../../../../test/kit/wallets/one-time-codes.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { platforms } from '../../tenancy/platform/store.ts';

const app = testAppForEach();
let fixture: WalletFixture;
beforeEach(async () => {
  fixture = walletFixture(app);
});

const SESSION_COUNT = 60;

/** Inserts copies of the sessions of a wallet that expired yesterday. */
const addExpiredSessions = (accountId: string) =>
  app.runtime.db.query(
    `insert into wallet_sessions select 'Session:' || gen_random_uuid(), platform_id, account_id,
      customer_id, credential_id, 'ACTIVE', 'p' || n, 'c' || n, 'k', authenticated_at - day,
      expires_at - day, created_at - day, updated_at - day, 1
      from wallet_sessions, generate_series(1, $2) n, (select interval '1 day' as day) a
      where account_id = $1`,
    [accountId, SESSION_COUNT],
  );

/** Counts session rows read from now on. */
function countReadRows(): () => number {
  const { db } = app.runtime;
  const { find, query } = db;
  let count = 0;
  db.find = (async (table, ...rest) => {
    const rows = await find(table, ...rest);
    if (table.name === 'wallet_sessions') count += rows.length;
    return rows;
  }) as Database['find'];
  db.query = (async (text: string, values?: readonly unknown[]) => {
    const rows = await query(text, values);
    if (text.includes('wallet_sessions')) count += rows.length;
    return rows;
  }) as Database['query'];
  return () => count;
}

describe('a wallet that had many sessions', () => {
  it('reads active sessions without reading all expired ones', async () => {
    const { accountId } = await fixture.createWalletCustomer();
    const session = await fixture.openEmailSession(accountId);
    await addExpiredSessions(accountId);
    const readCount = countReadRows();
    expect(await fixture.sessionsOf(accountId)).toMatchObject([{ id: session.session.id }]);
    const path = `/auth/sessions/${session.session.id}`;
    expect((await fixture.callSigned('DELETE', path, undefined, session)).status).toBe(204);
    expect(await fixture.sessionsOf(accountId)).toEqual([]);
    expect(readCount()).toBeLessThan(SESSION_COUNT);
  });
});

describe('the refresh of a session', () => {
  const setPolls = (wallet_polls: number) =>
    app.operate(async (ctx) => {
      const row = await ctx.read(platforms, app.platform.id);
      if (row) ctx.update(platforms, row, { wallet_polls });
    });

  /** Runs `concurrentWork` once, when the credential is read and before the result is returned. */
  function runBeforeRead(credentialId: string, concurrentWork: () => Promise<unknown>): void {
    const { db } = app.runtime;
    const { read } = db;
    db.read = (async (table, id) => {
      if (table.name === 'credentials' && id === credentialId) {
        db.read = read;
        await concurrentWork();
      }
      return read(table, id);
    }) as Database['read'];
  }

  it('is rejected if the credential of the session is removed concurrently', async () => {
    const { accountId, email, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
    const path = `/auth/sessions/${byEmail.session.id}/refresh`;
    const body = { clientPublicKey: generateKeys().publicKey };
    await setPolls(1);
    const challengeBody = ok(await fixture.call('POST', path, body), 202);
    const headers = await signedHeaders(challengeBody, byEmail);
    expect((await fixture.call('POST', path, body, headers)).body.status).toBe('PROCESSING');
    await setPolls(0);
    const removalPath = `/auth/credentials/${email.id}`;
    runBeforeRead(email.id, () => fixture.callSigned('DELETE', removalPath, undefined, bySms));
    const rejectedResponse = await fixture.call('POST', path, body, headers);
    expect(errorOf(rejectedResponse).slice(0, 2)).toEqual([401, 'UNAUTHORIZED']);
    expect((await fixture.credentialsOf(accountId)).map(({ type }) => type)).toEqual(['SMS_OTP']);
    expect(await fixture.sessionsOf(accountId)).toMatchObject([{ id: bySms.session.id }]);
  });
});
