// Cancellation of account recoveries, and single execution with several servers.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { messagesTo } from '../../../../test/kit/customers/contacts.ts';
import { erase } from '../../../../test/kit/customers/erasure.ts';
import {
  signedHeaders,
  type WalletFixture,
} from '../../../../test/kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../../../../test/kit/wallets/one-time-codes.ts';
import {
  DELAY,
  HOUR,
  type RecoveryFixture,
  recoveryFixture,
} from '../../../../test/kit/wallets/recovery.ts';
import { compose } from '../../../compose.ts';
import { createLog } from '../../../runtime/observability/log.ts';
import { addCredential } from '../accounts/credentials.ts';
import { findWallet } from '../accounts/wallet.ts';
import { cancelRecovery } from './recovery.ts';

const app = testApp({ walletRecoveryMs: DELAY });
let recovery: RecoveryFixture;
let fixture: WalletFixture;
beforeAll(async () => {
  recovery = recoveryFixture(app);
  fixture = recovery.fixture;
});

describe('a recovery is canceled by', () => {
  it('a sign-in, immediately', async () => {
    const { accountId, customer } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId);
    await app.settle();
    const { id } = (await fixture.credentialsOf(accountId))[0];
    await fixture.requestOtpBundle(id);
    expect((await recovery.reload(row)).status).toBe('WAITING');
    recovery.advance(HOUR);
    await fixture.openEmailSession(accountId);
    await recovery.expectCancelled(row, 'SIGNED_IN');
    await app.advance(DELAY);
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP']);
    expect(await recovery.messageKinds(customer.id)).toEqual([
      ...['EMAIL CANCELLED', 'EMAIL STARTED', 'SMS CANCELLED', 'SMS STARTED'],
    ]);
  });

  it('a sign-in to the same wallet only', async () => {
    const [firstCustomer, secondCustomer] = [
      await recovery.createPhoneCustomer(),
      await recovery.createPhoneCustomer(),
    ];
    const row = await recovery.start(firstCustomer.accountId);
    await fixture.openEmailSession(secondCustomer.accountId);
    expect((await recovery.reload(row)).status).toBe('WAITING');
    await app.operate((ctx) => cancelRecovery(ctx, row, 'OPERATOR', 'Grace'));
  });

  it('a session that was opened at the time of the request', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId);
    await fixture.openEmailSession(accountId);
    // The state after two operations that have not read each other's changes.
    const sql = `update wallet_recoveries set status = 'WAITING', cancelled_for = null,
      contact_digest = $2, ended_at = null where id = $1`;
    await app.runtime.db.query(sql, [row.id, row.contact_digest]);
    await app.advance(DELAY);
    await recovery.expectCancelled(row, 'SIGNED_IN');
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP']);
  });

  it('no session that was revoked before the request', async () => {
    const { accountId } = await recovery.createPhoneCustomer();
    const session = await fixture.openEmailSession(accountId);
    const path = `/auth/sessions/${session.session.id}`;
    const challengeBody = ok(await fixture.call('DELETE', path), 202);
    ok(
      await fixture.call('DELETE', path, undefined, await signedHeaders(challengeBody, session)),
      204,
    );
    recovery.advance(1);
    const row = await recovery.start(accountId);
    await app.advance(DELAY);
    expect((await recovery.reload(row)).status).toBe('DONE');
  });

  it('a change of the contact', async () => {
    const { accountId, customer } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId);
    await app.settle();
    const change = { customerType: 'INDIVIDUAL', phoneNumber: newPhoneNumber() };
    ok(await fixture.call('PATCH', `/customers/${customer.id}`, change), 200);
    await app.advance(DELAY);
    await recovery.expectCancelled(row, 'CONTACT_CHANGED');
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP']);
    const cancellationMessages = (await messagesTo(app, customer.id)).filter(({ kind }) =>
      /CANCELLED/.test(kind),
    );
    expect(cancellationMessages.map(({ to }) => to)).toEqual([customer.email, change.phoneNumber]);
  });

  it('a new credential of the same type', async () => {
    const { accountId, customer } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId);
    await app.operate(async (ctx) => {
      const wallet = await findWallet(ctx, accountId);
      if (wallet) addCredential(ctx, wallet, { type: 'SMS_OTP', uniquenessKey: 'SMS_OTP' });
    });
    await app.advance(DELAY);
    await recovery.expectCancelled(row, 'CREDENTIAL_THERE');
    expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
    expect(await recovery.messageKinds(customer.id)).toContain('SMS CANCELLED');
  });

  it('the closing of the account', async () => {
    const { accountId, customer } = await recovery.createPhoneCustomer();
    const row = await recovery.start(accountId);
    await app.settle();
    const sql = `update internal_accounts set status = 'CLOSED', version = version + 1 where id = $1`;
    await app.runtime.db.query(sql, [accountId]);
    await app.advance(DELAY);
    await recovery.expectCancelled(row, 'WALLET_GONE');
    expect(await recovery.messageKinds(customer.id)).toContain('EMAIL CANCELLED');
  });

  it('the deletion or erasure of the customer', async () => {
    const [deletedCustomer, erasedCustomer] = [
      await recovery.createPhoneCustomer(),
      await recovery.createPhoneCustomer(),
    ];
    const rows = [
      await recovery.start(deletedCustomer.accountId),
      await recovery.start(erasedCustomer.accountId),
    ] as const;
    for (const { customer } of [deletedCustomer, erasedCustomer]) {
      ok(await fixture.call('DELETE', `/customers/${customer.id}`), 200);
    }
    await erase(app.runtime, erasedCustomer.customer.id, { actor: 'Grace', reason: null });
    await recovery.expectCancelled(rows[1], 'WALLET_GONE');
    await app.advance(DELAY);
    await recovery.expectCancelled(rows[0], 'WALLET_GONE');
    expect(await recovery.reload(rows[1])).toMatchObject({
      actor: 'Ada',
      reason: 'lost the mailbox',
    });
  });

  it('an announcement that could not be sent', async () => {
    const productionFixture = recoveryFixture(app, app.production);
    const { accountId } = await productionFixture.createPhoneCustomer();
    const row = await productionFixture.start(accountId);
    await app.advance(DELAY);
    await productionFixture.expectCancelled(row, 'NOT_ANNOUNCED');
    expect(await productionFixture.typesOf(accountId)).toEqual(['EMAIL_OTP']);
  });
});

describe('concurrent execution', () => {
  /** A second complete server on the same database. */
  const startSecondServer = () =>
    compose(
      {
        databaseUrl: app.databaseUrl,
        masterKey: Buffer.alloc(32, 7),
        serviceNamePrefix: 'Service',
        files: { folder: app.filesFolder },
        walletRecoveryMs: DELAY,
      },
      app.effects,
      createLog(app.effects, 'error', () => undefined),
    );

  let people: Awaited<ReturnType<RecoveryFixture['createPhoneCustomer']>>[];
  beforeEach(async () => {
    people = await Promise.all([
      recovery.createPhoneCustomer(),
      recovery.createPhoneCustomer(),
      recovery.createPhoneCustomer(),
      recovery.createPhoneCustomer(),
    ]);
  });

  it('adds each credential once with two servers, even if one of them stops', async () => {
    for (const { accountId } of people) await recovery.start(accountId);
    await app.settle();
    const secondApp = await startSecondServer();
    try {
      recovery.advance(DELAY);
      // The state of a job whose server stopped during the first attempt.
      const [postponedJob] = await app.runtime.db.query<{ id: string }>(
        `update jobs set due_at = due_at + interval '20 seconds', attempts = 1, version = version + 1
          where id = (select id from jobs where kind = 'wallets.recover' order by due_at limit 1)
          returning id`,
      );
      expect(postponedJob).toBeDefined();
      await Promise.all([
        secondApp.worker.runDue(),
        app.worker.runDue(),
        secondApp.worker.runDue(),
      ]);
      recovery.advance(20_000);
      await secondApp.worker.runDue();
    } finally {
      await secondApp.stop();
    }
    await app.settle();
    for (const { accountId, customer } of people) {
      expect(await recovery.typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
      expect(await recovery.messageKinds(customer.id)).toEqual([
        ...['EMAIL DONE', 'EMAIL STARTED', 'SMS DONE', 'SMS STARTED'],
      ]);
    }
  });

  it('completes a recovery, or cancels it because of a concurrent sign-in', async () => {
    const rows = await Promise.all(people.map(({ accountId }) => recovery.start(accountId)));
    await app.settle();
    recovery.advance(DELAY);
    const signIns = people.map(({ accountId }) => fixture.openEmailSession(accountId));
    await Promise.all([...signIns, app.worker.runDue()]);
    await app.settle();
    for (const [index, row] of rows.entries()) {
      const { accountId, customer } = people[index] as (typeof people)[number];
      const { status, cancelled_for } = await recovery.reload(row);
      const types = await recovery.typesOf(accountId);
      if (status === 'DONE') expect(types).toEqual(['EMAIL_OTP', 'SMS_OTP']);
      else {
        expect([status, cancelled_for]).toEqual(['CANCELLED', 'SIGNED_IN']);
        expect(types).toEqual(['EMAIL_OTP']);
      }
      expect(await recovery.messageKinds(customer.id)).toHaveLength(4);
    }
  });
});
