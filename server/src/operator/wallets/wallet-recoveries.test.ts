// The operator's verbs on a wallet: account recovery from the request to the new credential, and the
// display of a wallet and its signatures.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { walletFixture } from '../../../test/kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../../../test/kit/wallets/one-time-codes.ts';
import { parseStamp, verifyStamp } from '../../features/wallets/signing/stamp.ts';
import { main } from '../../operator.ts';

const HOUR_MS = 3_600_000;
const WITH_RECOVERY = { RAILHEAD_WALLET_RECOVERY: '48' };
const UNKNOWN_ID = '01980000-0000-7000-8000-000000000000';

const app = testApp({ walletRecoveryMs: 48 * HOUR_MS });
const fixture = walletFixture(app);
const command = commandRunner(app);

const run = (...argv: string[]) => command(['wallet', ...argv], WITH_RECOVERY);

async function runJson(...argv: string[]) {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

const DECISION = ['--actor', 'Ada', '--reason', 'No access to the mailbox'];
const recover = (accountId: string, type = 'SMS_OTP') =>
  runJson('recover', accountId, '--type', type, ...DECISION);

const createPhoneCustomer = () => fixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });

/** The columns of a string's lines, separated by two spaces or more. */
const cellsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

describe('wallet recover', () => {
  it('is disabled unless the installation sets a waiting period', async () => {
    const { accountId } = await createPhoneCustomer();
    const argv = ['wallet', 'recover', accountId, '--type', 'SMS_OTP', ...DECISION];
    const { code, out, err } = await command(argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(
      'Account recovery is disabled. Set RAILHEAD_WALLET_RECOVERY to the waiting period in hours, for ' +
        'this command and for the server.\n',
    );
    expect(await runJson('recoveries', '--limit', '1')).toEqual([]);
  });

  it('starts a recovery that a running server completes', async () => {
    const { accountId, customer } = await createPhoneCustomer();
    const recovery = await recover(accountId);
    const now = app.effects.now();
    expect(recovery).toEqual({
      recoveryId: expect.stringMatching(/^WalletRecovery:/),
      ...{ platformId: app.platform.id, customerId: customer.id, accountId, type: 'SMS_OTP' },
      ...{ status: 'WAITING', actor: 'Ada', reason: 'No access to the mailbox' },
      ...{ cancelledFor: null, cancelledBy: null, endedAt: null },
      createdAt: new Date(now).toISOString(),
      dueAt: new Date(now + 48 * HOUR_MS).toISOString(),
    });
    await app.advance(48 * HOUR_MS);
    expect(await fixture.credentialsOf(accountId)).toHaveLength(2);
    const [row] = await runJson('recoveries', '--status', 'DONE', '--limit', '1');
    expect(row).toEqual({ ...recovery, status: 'DONE', endedAt: recovery.dueAt });
    const { code, err } = await run('recover', accountId, '--type', 'SMS_OTP', ...DECISION);
    expect(code).toBe(1);
    expect(err).toContain('Codes to the telephone number can be requested');
  });

  it('applies to a running server, which reads the recovery from the database', async () => {
    const ownApp = await startApp({ walletRecoveryMs: 48 * HOUR_MS });
    const ownFixture = walletFixture(ownApp);
    try {
      const { accountId } = await ownFixture.createWalletCustomer({
        phoneNumber: newPhoneNumber(),
      });
      let out = '';
      const args = ['wallet', 'recover', accountId, '--type', 'SMS_OTP', ...DECISION, '--json'];
      const code = await main([...args, '--wallet-recovery', '48'], {
        env: { DATABASE_URL: ownApp.databaseUrl, RAILHEAD_MASTER_KEY: '07'.repeat(32) },
        out: (text) => {
          out += text;
        },
        err: () => undefined,
      });
      expect(code).toBe(0);
      // The command uses the real clock, which is months ahead.
      const dueTime = Date.parse(JSON.parse(out).dueAt);
      await ownApp.advance(dueTime - ownApp.effects.now() - 1);
      expect(await ownFixture.credentialsOf(accountId)).toHaveLength(1);
      await ownApp.advance(1);
      expect(await ownFixture.credentialsOf(accountId)).toHaveLength(2);
    } finally {
      await ownApp.close();
    }
  });

  it('prints the recovery without personal data', async () => {
    const { accountId, customer } = await createPhoneCustomer();
    const { code, out, err } = await run('recover', accountId, '--type', 'SMS_OTP', ...DECISION);
    expect([code, err]).toEqual([0, '']);
    expect(cellsOf(out).map(([name, value]) => [name, value])).toEqual([
      ['Recovery', expect.stringMatching(/^WalletRecovery:/)],
      ['Account', accountId],
      ['Credential', 'SMS_OTP'],
      ['Status', 'WAITING'],
      ['Requested by', 'Ada'],
      ['Reason', 'No access to the mailbox'],
      ['Due', new Date(app.effects.now() + 48 * HOUR_MS).toISOString()],
    ]);
    expect(out).not.toContain(customer.email);
    expect(out).not.toContain(customer.phoneNumber);
  });

  it('requires a wallet account, a valid type, an actor and a reason', async () => {
    const { accountId, customer } = await createPhoneCustomer();
    const path = `/customers/internal-accounts?customerId=${customer.id}&type=INTERNAL_FIAT`;
    const [fiatAccount] = ok(await app.call('GET', path), 200).data;
    for (const id of [fiatAccount.id, `InternalAccount:${UNKNOWN_ID}`, 'x', customer.id]) {
      const { code, err } = await run('recover', id, '--type', 'SMS_OTP', ...DECISION);
      expect([code, err]).toEqual([1, 'Wallet not found.\n']);
    }
    const invalidArguments = [
      [accountId, '--type', 'PASSKEY', ...DECISION],
      [accountId, '--type', 'SMS_OTP', '--actor', 'Ada'],
      [accountId, '--type', 'SMS_OTP', '--reason', 'No access'],
      [accountId, ...DECISION],
    ];
    for (const argv of invalidArguments) expect((await run('recover', ...argv)).code).toBe(2);
  });

  it("is rejected under another master key than the server's", async () => {
    const { accountId } = await createPhoneCustomer();
    let err = '';
    const argv = ['wallet', 'recover', accountId, '--type', 'SMS_OTP', ...DECISION];
    const code = await main(argv, {
      env: {
        ...WITH_RECOVERY,
        DATABASE_URL: app.databaseUrl,
        RAILHEAD_MASTER_KEY: '08'.repeat(32),
      },
      out: () => undefined,
      err: (text) => {
        err += text;
      },
    });
    expect(code).toBe(1);
    expect(err).toMatch(/another master key/);
  });

  it('validates the setting like the server', async () => {
    const { code, err } = await command(['wallet', 'recoveries'], {
      RAILHEAD_WALLET_RECOVERY: '12',
    });
    expect(code).toBe(2);
    expect(err).toContain(
      'RAILHEAD_WALLET_RECOVERY must be a whole number of hours from 24 to 720.',
    );
  });
});

describe('wallet cancel-recovery', () => {
  it('cancels a recovery once, and stores the actor', async () => {
    const { accountId } = await createPhoneCustomer();
    const { recoveryId } = await recover(accountId);
    const canceledRecovery = await runJson('cancel-recovery', recoveryId, '--actor', 'Grace');
    expect(canceledRecovery).toMatchObject({
      ...{ recoveryId, status: 'CANCELLED', cancelledFor: 'OPERATOR', cancelledBy: 'Grace' },
      ...{ actor: 'Ada', endedAt: new Date(app.effects.now()).toISOString() },
    });
    const { code, err } = await run('cancel-recovery', recoveryId);
    const expectedReason = 'The recovery is CANCELLED. Only a WAITING recovery can be canceled.';
    expect([code, err]).toEqual([1, `${expectedReason}\n`]);
    await app.advance(48 * HOUR_MS);
    expect(await fixture.credentialsOf(accountId)).toHaveLength(1);
  });

  it('works while new recoveries are disabled, and shows the result', async () => {
    const { accountId } = await createPhoneCustomer();
    const { recoveryId } = await recover(accountId);
    const { code, out } = await command(['wallet', 'cancel-recovery', recoveryId]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Status +CANCELLED, OPERATOR$/m);
  });

  it('rejects unknown IDs', async () => {
    for (const id of [`WalletRecovery:${UNKNOWN_ID}`, `Session:${UNKNOWN_ID}`, 'x']) {
      const { code, err } = await run('cancel-recovery', id);
      expect([code, err]).toEqual([1, 'Recovery not found.\n']);
    }
  });
});

describe('wallet recoveries', () => {
  it('lists recoveries, newest first, by platform and state, page by page', async () => {
    const platform = app.unregulated;
    const otherFixture = walletFixture(app, { platform });
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { accountId } = await otherFixture.createWalletCustomer({
        phoneNumber: newPhoneNumber(),
      });
      ids.unshift((await recover(accountId)).recoveryId);
      app.effects.set(app.effects.now() + 1);
    }
    const idsOf = async (...argv: string[]) =>
      (await runJson('recoveries', platform.id, ...argv)).map(
        ({ recoveryId }: { recoveryId: string }) => recoveryId,
      );
    expect(await idsOf()).toEqual(ids);
    expect(await idsOf('--limit', '2')).toEqual(ids.slice(0, 2));
    expect(await idsOf('--limit', '2', '--after', ids[1] as string)).toEqual(ids.slice(2));
    await runJson('cancel-recovery', ids[0] as string);
    expect(await idsOf('--status', 'CANCELLED')).toEqual(ids.slice(0, 1));
    expect(await idsOf('--status', 'WAITING')).toEqual(ids.slice(1));
    const { out } = await run('recoveries', platform.id);
    const [heads, firstRow, secondRow] = cellsOf(out);
    expect(heads).toEqual([
      ...['CREATED', 'RECOVERY', 'ACCOUNT', 'CREDENTIAL', 'STATUS', 'DUE', 'ACTOR', 'REASON'],
    ]);
    expect(firstRow?.slice(3, 5)).toEqual(['SMS_OTP', 'CANCELLED OPERATOR']);
    expect(secondRow?.slice(6)).toEqual(['Ada', 'No access to the mailbox']);
    expect((await run('recoveries', `PlatformConfig:${UNKNOWN_ID}`)).err).toBe(
      'Platform not found.\n',
    );
  });
});

describe('wallet show', () => {
  it('shows credentials and pending requests, and no personal data or secrets', async () => {
    const { accountId, customer, email, sms, byEmail, bySms } =
      await fixture.createEmailAndSmsWallet();
    ok(
      await fixture.call('PATCH', `/internal-accounts/${accountId}`, { privateEnabled: true }),
      202,
    );
    const wallet = await runJson('show', accountId);
    const sessionOf = ({ session, publicKey }: typeof byEmail, credentialId: string) => ({
      ...{ sessionId: session.id, credentialId, publicKey, expiresAt: session.expiresAt },
      authenticatedAt: session.createdAt,
    });
    expect(wallet).toEqual({
      ...{ accountId, platformId: app.platform.id, customerId: customer.id, status: 'ACTIVE' },
      createdAt: expect.any(String),
      credentials: [
        { credentialId: email.id, type: 'EMAIL_OTP', createdAt: email.createdAt },
        { credentialId: sms.id, type: 'SMS_OTP', createdAt: sms.createdAt },
      ],
      sessions: [sessionOf(byEmail, email.id), sessionOf(bySms, sms.id)],
      requests: { toSign: 1, processing: 0, settled: 0 },
      recovery: null,
    });
    const { out } = await run('show', accountId);
    const [row] = await app.runtime.db.query<{ seed: string }>(
      'select seed from wallets where id = $1',
      [accountId],
    );
    for (const secret of [customer.email, customer.phoneNumber, row?.seed as string]) {
      expect(out).not.toContain(secret);
      expect(JSON.stringify(wallet)).not.toContain(secret);
    }
    expect(out).toMatch(/^Awaiting signature +1$/m);
    expect(out).toMatch(/^Account recovery +none$/m);
    expect(cellsOf(out)).toContainEqual([sms.id, 'SMS_OTP', sms.createdAt]);
    app.effects.set(app.effects.now() + HOUR_MS);
    const laterWallet = await runJson('show', accountId);
    expect([laterWallet.sessions, laterWallet.requests.toSign]).toEqual([[], 0]);
  });

  it('shows the pending recovery', async () => {
    const { accountId } = await createPhoneCustomer();
    const { recoveryId, dueAt } = await recover(accountId);
    const wallet = await runJson('show', accountId);
    expect(wallet.recovery).toEqual({ recoveryId, type: 'SMS_OTP', dueAt });
    expect((await run('show', accountId)).out).toContain(`${recoveryId}, due ${dueAt}`);
  });

  it('needs neither the setting nor the master key, and accepts wallets only', async () => {
    const { accountId } = await createPhoneCustomer();
    const result = { code: 0, out: '' };
    result.code = await main(['wallet', 'show', accountId], {
      env: { DATABASE_URL: app.databaseUrl, RAILHEAD_MASTER_KEY: '08'.repeat(32) },
      out: (text) => {
        result.out += text;
      },
      err: () => undefined,
    });
    expect(result.code).toBe(0);
    expect(result.out).toContain(accountId);
    for (const id of [`InternalAccount:${UNKNOWN_ID}`, 'x']) {
      expect((await run('show', id)).err).toBe('Wallet not found.\n');
    }
  });
});

describe('wallet authorizations', () => {
  it('lists authorizations, newest first, page by page, of this wallet only', async () => {
    const { accountId, sms, byEmail, bySms } = await fixture.createEmailAndSmsWallet();
    const path = `/internal-accounts/${accountId}`;
    app.effects.set(app.effects.now() + 1);
    ok(await fixture.callSigned('PATCH', path, { privateEnabled: true }, bySms), 200);
    const allAuthorizations = await runJson('authorizations', accountId);
    expect(allAuthorizations[0]).toEqual({
      authorizationId: expect.stringMatching(/^WalletAuthorization:/),
      ...{ platformId: app.platform.id, customerId: expect.stringMatching(/^Customer:/) },
      createdAt: new Date(app.effects.now()).toISOString(),
      ...{ operation: 'updateInternalAccount', subject: accountId },
      ...{ sessionId: bySms.session.id, publicKey: bySms.publicKey },
    });
    // A login is signed by the key of the new session. Other operations are signed by the key of an
    // existing session.
    const operations = allAuthorizations.map(({ operation }: { operation: string }) => operation);
    expect([...operations].sort()).toEqual([
      ...['createAuthCredential', 'updateInternalAccount'],
      ...['verifyAuthCredential', 'verifyAuthCredential'],
    ]);
    const proof = allAuthorizations.find(({ subject }: { subject: string }) => subject === sms.id);
    expect(proof).toMatchObject({ sessionId: null, publicKey: bySms.publicKey });
    const ids = allAuthorizations.map(
      ({ authorizationId }: { authorizationId: string }) => authorizationId,
    );
    const nextPage = await runJson('authorizations', accountId, '--limit', '2', '--after', ids[0]);
    expect(nextPage).toEqual(allAuthorizations.slice(1, 3));
    const { out } = await run('authorizations', accountId);
    expect(cellsOf(out)[0]).toEqual([
      ...['SIGNED', 'AUTHORIZATION', 'OPERATION', 'ABOUT', 'SESSION', 'KEY'],
    ]);
    expect(cellsOf(out)).toHaveLength(5);
    for (const text of [out, JSON.stringify(allAuthorizations)])
      expect(text).not.toContain(byEmail.privateKey);
    const otherPerson = await createPhoneCustomer();
    const authorization = await runJson('authorization', ids[0]);
    expect(JSON.parse(authorization.payload).organizationId).toEqual(expect.any(String));
    const stamp = parseStamp(authorization.stamp);
    expect(stamp && verifyStamp(stamp, authorization.payload)).toBe(true);
    expect((await run('authorization', 'x')).err).toBe('Authorization not found.\n');
    expect((await run('authorizations', otherPerson.accountId)).out).toBe('None.\n');
    for (const cursor of [ids[0], `WalletAuthorization:${UNKNOWN_ID}`, 'x']) {
      const { code, err } = await run('authorizations', otherPerson.accountId, '--after', cursor);
      expect([code, err]).toEqual([1, 'Authorization not found.\n']);
    }
    expect((await run('authorizations', 'x')).err).toBe('Wallet not found.\n');
  });
});
