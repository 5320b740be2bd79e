// Account recovery: the complete flow, notices, rejections and delay.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { openSecondProcess } from '../../../../test/kit/app/second-process.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../test/kit/customers/contacts.ts';
import {
  type WalletFixture,
  walletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../../../../test/kit/wallets/one-time-codes.ts';
import {
  DELAY,
  HOUR,
  type RecoveryFixture,
  recoveryFixture,
  recoveryInput,
} from '../../../../test/kit/wallets/recovery.ts';
import { operate } from '../../../runtime/operation/operate.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';
import { walletRecoveries } from '../store.ts';
import { cancelRecovery } from './recovery.ts';
import { startRecovery } from './recovery-jobs.ts';

const [REQUESTED_AT, DUE_AT] = ['2026-01-05 09:00 UTC', '2026-01-07 09:00 UTC'];

const app = testApp({ walletRecoveryMs: DELAY });
let recovery: RecoveryFixture;
let fixture: WalletFixture;
beforeAll(async () => {
  recovery = recoveryFixture(app);
  fixture = recovery.fixture;
});

describe('a recovery', () => {
  it('adds only a credential, which is verified like any other', async () => {
    const { accountId, customer, credential } = await recovery.createPhoneCustomer();
    const balance = (await fixture.walletOf(customer.id)).balance;
    const row = await recovery.start(accountId);
    expect(row).toMatchObject({
      ...{ status: 'WAITING', actor: 'Ada', reason: 'lost the mailbox', type: 'SMS_OTP' },
      ...{ due_at: app.effects.now() + DELAY, ended_at: null, cancelled_for: null },
    });
    await app.advance(DELAY - 1);
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP']);
    expect((await recovery.reload(row)).status).toBe('WAITING');
    expect(await recovery.messageKinds(customer.id)).toEqual(['EMAIL STARTED', 'SMS STARTED']);
    await app.advance(1);
    const [credentialBefore, addedCredential] = await fixture.credentialsOf(accountId);
    expect(credentialBefore).toEqual(credential);
    expect(addedCredential).toMatchObject({
      type: 'SMS_OTP',
      nickname: customer.phoneNumber,
      accountId,
    });
    expect(await recovery.reload(row)).toMatchObject({
      ...{ status: 'DONE', ended_at: row.due_at, cancelled_for: null, contact_digest: null },
    });
    expect(await recovery.messageKinds(customer.id)).toEqual([
      ...['EMAIL DONE', 'EMAIL STARTED', 'SMS DONE', 'SMS STARTED'],
    ]);
    expect(await fixture.sessionsOf(accountId)).toEqual([]);
    expect((await fixture.walletOf(customer.id)).balance).toEqual(balance);
    const { session } = await fixture.openOtpSession(addedCredential);
    expect(session).toMatchObject({ type: 'SMS_OTP', accountId });
    expect((await recovery.reload(row)).status).toBe('DONE');
  });

  it('restores a removed credential as well', async () => {
    const { accountId, email, bySms } = await fixture.createEmailAndSmsWallet();
    const path = `/auth/credentials/${email.id}`;
    ok(await fixture.callSigned('DELETE', path, undefined, bySms), 204);
    recovery.advance(16 * 60_000);
    await recovery.start(accountId, 'EMAIL_OTP');
    await app.advance(DELAY);
    const [, newCredential] = await fixture.credentialsOf(accountId);
    expect(newCredential).toMatchObject({ type: 'EMAIL_OTP', nickname: email.nickname });
    expect(newCredential.id).not.toBe(email.id);
  });
});

describe('recovery messages', () => {
  it('state the platform, the day and the kind of contact, without secrets', async () => {
    const ownApp = await startApp({ walletRecoveryMs: DELAY });
    const ownFixture = walletFixture(ownApp);
    try {
      const config = { embeddedWalletConfig: { appName: 'Quorbat' } };
      ok(await ownFixture.call('PATCH', '/config', config), 200);
      const wallet = await ownFixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
      const secondWallet = await ownFixture.createWalletCustomer({ phoneNumber: newPhoneNumber() });
      const row = await ownApp.operate((ctx) =>
        startRecovery(ctx, recoveryInput(wallet.accountId)),
      );
      const otherRecovery = await ownApp.operate((ctx) =>
        startRecovery(ctx, recoveryInput(secondWallet.accountId)),
      );
      await ownApp.operate((ctx) => cancelRecovery(ctx, otherRecovery, 'OPERATOR', 'Grace'));
      await ownApp.advance(DELAY);
      const { email, phoneNumber: phone } = wallet.customer;
      const completedMessages = await messagesTo(ownApp, wallet.customer.id);
      expect(completedMessages.map(({ kind, to }) => [kind.split('_')[2], to])).toEqual([
        ...[
          ['STARTED', email],
          ['STARTED', phone],
        ],
        ...[
          ['DONE', email],
          ['DONE', phone],
        ],
      ]);
      const cancellationMessages = await messagesTo(ownApp, secondWallet.customer.id);
      expect(cancellationMessages.map(({ kind }) => kind.split('_')[2])).toEqual([
        ...['STARTED', 'STARTED', 'CANCELLED', 'CANCELLED'],
      ]);
      const texts = [...completedMessages, ...cancellationMessages].map(({ text }) => text);
      const [addedCredential] = (await ownFixture.credentialsOf(wallet.accountId)).slice(1);
      const secrets = [
        email,
        phone,
        row.id,
        row.actor,
        row.reason,
        row.contact_digest,
        addedCredential.id,
      ];
      for (const text of texts) {
        for (const secret of secrets) expect(text).not.toContain(secret);
        expect(text).not.toMatch(/\d{5}|https?:/);
        expect(text).toContain('Quorbat');
      }
      const textsByKind = new Map(
        [...completedMessages, ...cancellationMessages].map(({ kind, text }) => [kind, text]),
      );
      expect(textsByKind.get('WALLET_RECOVERY_STARTED')).toContain(`on ${DUE_AT} at the earliest`);
      expect(textsByKind.get('WALLET_RECOVERY_STARTED')).toContain(
        'Codes sent to your telephone number',
      );
      expect(textsByKind.get('WALLET_RECOVERY_DONE')).toContain(`requested on ${REQUESTED_AT}`);
      expect(textsByKind.get('WALLET_RECOVERY_CANCELLED')).toContain('Your wallet is unchanged.');
    } finally {
      await ownApp.close();
    }
  });
});

describe('a recovery is rejected for', () => {
  const rejectionOf = async (request: Promise<unknown>) =>
    request.then(
      () => 'started',
      ({ code, message }) => `${code}: ${message}`,
    );

  it('a contact that is not on file', async () => {
    const { accountId } = await fixture.createWalletCustomer();
    expect(await rejectionOf(recovery.start(accountId))).toBe(
      'CONFLICT: The customer has no telephone number on file. The platform can add one.',
    );
  });

  it('an existing credential of the same type', async () => {
    const { accountId, credential } = await recovery.createPhoneCustomer();
    expect(await rejectionOf(recovery.start(accountId, 'EMAIL_OTP'))).toBe(
      `CONFLICT: The wallet already has this credential. Codes to the e-mail address can be requested ` +
        `with a challenge of ${credential.id}.`,
    );
  });

  it('a wallet without any credential', async () => {
    const { accountId } = await fixture.createWalletCustomer({
      ...{ email: undefined, phoneNumber: newPhoneNumber() },
    });
    expect(await recovery.typesOf(accountId)).toEqual([]);
    expect(await rejectionOf(recovery.start(accountId))).toContain(
      'The first one is added without a signature',
    );
  });

  it('an active session', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    await fixture.openEmailSession(accountId);
    expect(await rejectionOf(recovery.start(accountId))).toContain(
      'The wallet has an active session',
    );
    recovery.advance(15 * 60_000);
    expect(await rejectionOf(recovery.start(accountId))).toBe('started');
  });

  it('a wallet with a pending recovery', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    const { id } = await recovery.start(accountId);
    expect(await rejectionOf(recovery.start(accountId))).toBe(
      `CONFLICT: The recovery ${id} is already pending for this wallet.`,
    );
  });

  it('a wallet of another platform, and an account that is not a wallet', async () => {
    const { accountId, customer } = await recovery.createPhoneCustomer();
    const closedMessage = 'CONFLICT: The wallet is closed, or its customer was deleted.';
    expect(await rejectionOf(recovery.start(accountId, 'SMS_OTP', DELAY, app.other))).toBe(
      closedMessage,
    );
    const path = `/customers/internal-accounts?customerId=${customer.id}&type=INTERNAL_FIAT`;
    const [fiat] = ok(await app.call('GET', path), 200).data;
    expect(await rejectionOf(recovery.start(fiat.id))).toBe(closedMessage);
  });

  it('one of two concurrent requests', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    const secondRuntime = openSecondProcess(app);
    const caller = systemCaller(app.platform.id, 'sandbox');
    try {
      const results = await Promise.all([
        rejectionOf(recovery.start(accountId)),
        rejectionOf(
          operate(secondRuntime, caller, (ctx) => startRecovery(ctx, recoveryInput(accountId))),
        ),
      ]);
      expect(results.filter((each) => each === 'started')).toHaveLength(1);
      expect(results.join()).toContain('is already pending for this wallet');
    } finally {
      await secondRuntime.close();
    }
    expect(await app.runtime.db.find(walletRecoveries, { account_id: accountId })).toHaveLength(1);
  });

  it('a wallet with a pending recovery until it is canceled', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId);
    await app.operate((ctx) => cancelRecovery(ctx, row, 'OPERATOR', 'Grace'));
    await recovery.start(accountId);
    await app.advance(DELAY);
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
  });
});

describe('the delay', () => {
  it('is at least the setting of the server', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId, 'SMS_OTP', HOUR);
    await app.advance(HOUR);
    expect(await recovery.reload(row)).toMatchObject({
      ...{ status: 'WAITING', due_at: row.created_at + DELAY },
    });
    await app.advance(DELAY - HOUR - 1);
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP']);
    await app.advance(1);
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
  });

  it('is followed by a cancellation if the server has recovery disabled', async () => {
    const appWithoutRecovery = await startApp();
    try {
      const walletsWithoutRecovery = walletFixture(appWithoutRecovery);
      const { accountId } = await walletsWithoutRecovery.createWalletCustomer({
        phoneNumber: newPhoneNumber(),
      });
      const row = await appWithoutRecovery.operate((ctx) =>
        startRecovery(ctx, recoveryInput(accountId)),
      );
      await appWithoutRecovery.advance(DELAY);
      expect(await appWithoutRecovery.runtime.db.read(walletRecoveries, row.id)).toMatchObject({
        ...{ status: 'CANCELLED', cancelled_for: 'SWITCHED_OFF' },
      });
      expect(await walletsWithoutRecovery.credentialsOf(accountId)).toHaveLength(1);
    } finally {
      await appWithoutRecovery.close();
    }
  });
});
