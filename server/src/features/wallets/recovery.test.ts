// The way back for a user who can prove no credential: all of it, everything that stops it, and that it
// happens once however many servers there are.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writtenTo } from '../../../test/contacts.ts';
import { ok } from '../../../test/fixtures.ts';
import { startApp, type TestApp, type TestPlatform } from '../../../test/harness.ts';
import { phoneNumber } from '../../../test/otp.ts';
import { secondProcess } from '../../../test/second-process.ts';
import { signedHeaders, type WalletDesk, walletDesk } from '../../../test/wallet-desk.ts';
import { compose } from '../../compose.ts';
import { erase } from '../../operator/erase.ts';
import { createLog } from '../../runtime/log.ts';
import { operate } from '../../runtime/operate.ts';
import { messages } from '../messages/index.ts';
import { systemCaller } from '../platform/index.ts';
import {
  addCredential,
  findWallet,
  type RecoveryRow,
  type RecoveryStop,
  type RecoveryType,
  startRecovery,
  stopRecovery,
  walletRecoveries,
} from './index.ts';

const HOUR = 3_600_000;
const DELAY = 48 * HOUR;
const [ASKED_AT, DUE_AT] = ['2026-01-05 09:00 UTC', '2026-01-07 09:00 UTC'];

let app: TestApp;
let desk: WalletDesk;
beforeAll(async () => {
  app = await startApp({ walletRecoveryMs: DELAY });
  desk = walletDesk(app);
});
afterAll(() => app.close());

/** Somebody with a telephone number that no codes go to yet. */
const person = () => desk.customerWithWallet({ phoneNumber: phoneNumber() });

const asking = (accountId: string, type: RecoveryType = 'SMS_OTP', delayMs = DELAY) => ({
  accountId,
  type,
  delayMs,
  actor: 'Ada',
  reason: 'lost the mailbox',
});

const begin = (accountId: string, type?: RecoveryType, delayMs?: number, as?: TestPlatform) =>
  app.operate((ctx) => startRecovery(ctx, asking(accountId, type, delayMs)), as);

const again = async ({ id }: RecoveryRow) =>
  (await app.runtime.db.read(walletRecoveries, id)) as RecoveryRow;

const typesOf = async (accountId: string) =>
  (await desk.credentialsOf(accountId)).map(({ type }) => type);

/** What announces recoveries, of one customer: channel and kind. */
async function announced(customerId: string) {
  const rows = await app.runtime.db.find(messages, { customer_id: customerId });
  return rows
    .filter(({ kind }) => kind.startsWith('WALLET_RECOVERY'))
    .map(({ channel, kind }) => `${channel} ${kind.slice('WALLET_RECOVERY_'.length)}`)
    .sort();
}

const wait = (ms: number) => app.world.set(app.world.now() + ms);

async function expectStopped(row: RecoveryRow, why: RecoveryStop) {
  expect(await again(row)).toMatchObject({
    status: 'CANCELLED',
    cancelled_for: why,
    cancelled_by: null,
    contact_digest: null,
    ended_at: app.world.now(),
  });
}

describe('the whole way', () => {
  it('ends in a credential that is proved like any other, and changes nothing else', async () => {
    const { accountId, customer, credential } = await person();
    const about = (await desk.walletOf(customer.id)).balance;
    const row = await begin(accountId);
    expect(row).toMatchObject({
      ...{ status: 'WAITING', actor: 'Ada', reason: 'lost the mailbox', type: 'SMS_OTP' },
      ...{ due_at: app.world.now() + DELAY, ended_at: null, cancelled_for: null },
    });
    await app.advance(DELAY - 1);
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP']);
    expect((await again(row)).status).toBe('WAITING');
    expect(await announced(customer.id)).toEqual(['EMAIL STARTED', 'SMS STARTED']);
    await app.advance(1);
    const [before, added] = await desk.credentialsOf(accountId);
    expect(before).toEqual(credential);
    expect(added).toMatchObject({ type: 'SMS_OTP', nickname: customer.phoneNumber, accountId });
    expect(await again(row)).toMatchObject({
      ...{ status: 'DONE', ended_at: row.due_at, cancelled_for: null, contact_digest: null },
    });
    expect(await announced(customer.id)).toEqual([
      ...['EMAIL DONE', 'EMAIL STARTED', 'SMS DONE', 'SMS STARTED'],
    ]);
    expect(await desk.sessionsOf(accountId)).toEqual([]);
    expect((await desk.walletOf(customer.id)).balance).toEqual(about);
    const { session } = await desk.otpSession(added);
    expect(session).toMatchObject({ type: 'SMS_OTP', accountId });
    expect((await again(row)).status).toBe('DONE');
  });

  it('gives back a credential that was removed, too', async () => {
    const { accountId, email, bySms } = await desk.twoWays();
    const path = `/auth/credentials/${email.id}`;
    ok(await desk.signed('DELETE', path, undefined, bySms), 204);
    wait(16 * 60_000);
    await begin(accountId, 'EMAIL_OTP');
    await app.advance(DELAY);
    const [, fresh] = await desk.credentialsOf(accountId);
    expect(fresh).toMatchObject({ type: 'EMAIL_OTP', nickname: email.nickname });
    expect(fresh.id).not.toBe(email.id);
  });
});

describe('what is said', () => {
  it('names the platform, the day and the kind of contact, and neither the contact nor a secret', async () => {
    const own = await startApp({ walletRecoveryMs: DELAY });
    const owner = walletDesk(own);
    try {
      const config = { embeddedWalletConfig: { appName: 'Quorbat' } };
      ok(await owner.call('PATCH', '/config', config), 200);
      const one = await owner.customerWithWallet({ phoneNumber: phoneNumber() });
      const two = await owner.customerWithWallet({ phoneNumber: phoneNumber() });
      const row = await own.operate((ctx) => startRecovery(ctx, asking(one.accountId)));
      const other = await own.operate((ctx) => startRecovery(ctx, asking(two.accountId)));
      await own.operate((ctx) => stopRecovery(ctx, other, 'OPERATOR', 'Grace'));
      await own.advance(DELAY);
      const { email, phoneNumber: phone } = one.customer;
      const said = await writtenTo(own, one.customer.id);
      expect(said.map(({ kind, to }) => [kind.split('_')[2], to])).toEqual([
        ...[
          ['STARTED', email],
          ['STARTED', phone],
        ],
        ...[
          ['DONE', email],
          ['DONE', phone],
        ],
      ]);
      const stopped = await writtenTo(own, two.customer.id);
      expect(stopped.map(({ kind }) => kind.split('_')[2])).toEqual([
        ...['STARTED', 'STARTED', 'CANCELLED', 'CANCELLED'],
      ]);
      const texts = [...said, ...stopped].map(({ text }) => text);
      const [added] = (await owner.credentialsOf(one.accountId)).slice(1);
      const secrets = [email, phone, row.id, row.actor, row.reason, row.contact_digest, added.id];
      for (const text of texts) {
        for (const secret of secrets) expect(text).not.toContain(secret);
        expect(text).not.toMatch(/\d{5}|https?:/);
        expect(text).toContain('Quorbat');
      }
      const kinds = new Map([...said, ...stopped].map(({ kind, text }) => [kind, text]));
      expect(kinds.get('WALLET_RECOVERY_STARTED')).toContain(`Not before ${DUE_AT}`);
      expect(kinds.get('WALLET_RECOVERY_STARTED')).toContain('codes to your telephone number');
      expect(kinds.get('WALLET_RECOVERY_DONE')).toContain(`asked for on ${ASKED_AT}`);
      expect(kinds.get('WALLET_RECOVERY_CANCELLED')).toContain('Nothing has changed.');
    } finally {
      await own.close();
    }
  });
});

describe('what it is refused for', () => {
  const refusal = async (asked: Promise<unknown>) =>
    asked.then(
      () => 'begun',
      ({ code, message }) => `${code}: ${message}`,
    );

  it('a contact that is not on file', async () => {
    const { accountId } = await desk.customerWithWallet();
    expect(await refusal(begin(accountId))).toBe(
      'CONFLICT: The customer has no telephone number on file. The platform can add one.',
    );
  });

  it('a credential that is there: a code can be asked for', async () => {
    const { accountId, credential } = await person();
    expect(await refusal(begin(accountId, 'EMAIL_OTP'))).toBe(
      `CONFLICT: The wallet has this credential already: a code to the email address can be asked ` +
        `for at any time, with a challenge of ${credential.id}.`,
    );
  });

  it('a wallet without any credential, whose first needs no signature', async () => {
    const { accountId } = await desk.customerWithWallet({
      ...{ email: undefined, phoneNumber: phoneNumber() },
    });
    expect(await typesOf(accountId)).toEqual([]);
    expect(await refusal(begin(accountId))).toContain('its first is added without a signature');
  });

  it('a session that is active', async () => {
    const { accountId } = await person();
    await desk.emailSession(accountId);
    expect(await refusal(begin(accountId))).toContain('Somebody is signed in to the wallet');
    wait(15 * 60_000);
    expect(await refusal(begin(accountId))).toBe('begun');
  });

  it('another that waits, of whatever kind', async () => {
    const { accountId } = await person();
    const { id } = await begin(accountId);
    expect(await refusal(begin(accountId))).toBe(`CONFLICT: ${id} waits for this wallet already.`);
  });

  it("another platform's wallet, and an account that is none", async () => {
    const { accountId, customer } = await person();
    const gone = 'CONFLICT: The wallet is closed, or its customer was deleted.';
    expect(await refusal(begin(accountId, 'SMS_OTP', DELAY, app.other))).toBe(gone);
    const path = `/customers/internal-accounts?customerId=${customer.id}&type=INTERNAL_FIAT`;
    const [fiat] = ok(await app.call('GET', path), 200).data;
    expect(await refusal(begin(fiat.id))).toBe(gone);
  });

  it('two that begin in one instant, of which one is taken', async () => {
    const { accountId } = await person();
    const second = secondProcess(app);
    const caller = systemCaller(app.platform.id, 'sandbox');
    try {
      const both = await Promise.all([
        refusal(begin(accountId)),
        refusal(operate(second, caller, (ctx) => startRecovery(ctx, asking(accountId)))),
      ]);
      expect(both.filter((each) => each === 'begun')).toHaveLength(1);
      expect(both.join()).toContain('waits for this wallet already');
    } finally {
      await second.close();
    }
    expect(await app.runtime.db.find(walletRecoveries, { account_id: accountId })).toHaveLength(1);
  });

  it('can begin anew when one is over', async () => {
    const { accountId } = await person();
    const row = await begin(accountId);
    await app.operate((ctx) => stopRecovery(ctx, row, 'OPERATOR', 'Grace'));
    await begin(accountId);
    await app.advance(DELAY);
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
  });
});

describe('what stops it', () => {
  it('a sign-in, at once', async () => {
    const { accountId, customer } = await person();
    const row = await begin(accountId);
    await app.settle();
    const { id } = (await desk.credentialsOf(accountId))[0];
    await desk.otpBundle(id);
    expect((await again(row)).status).toBe('WAITING');
    wait(HOUR);
    await desk.emailSession(accountId);
    await expectStopped(row, 'SIGNED_IN');
    await app.advance(DELAY);
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP']);
    expect(await announced(customer.id)).toEqual([
      ...['EMAIL CANCELLED', 'EMAIL STARTED', 'SMS CANCELLED', 'SMS STARTED'],
    ]);
  });

  it('a sign-in to another wallet does not', async () => {
    const [one, two] = [await person(), await person()];
    const row = await begin(one.accountId);
    await desk.emailSession(two.accountId);
    expect((await again(row)).status).toBe('WAITING');
    await app.operate((ctx) => stopRecovery(ctx, row, 'OPERATOR', 'Grace'));
  });

  it('a session that was opened in the instant in which it began', async () => {
    const { accountId } = await person();
    const row = await begin(accountId);
    await desk.emailSession(accountId);
    // As it is where neither saw the other.
    const sql = `update wallet_recoveries set status = 'WAITING', cancelled_for = null,
      contact_digest = $2, ended_at = null where id = $1`;
    await app.runtime.db.query(sql, [row.id, row.contact_digest]);
    await app.advance(DELAY);
    await expectStopped(row, 'SIGNED_IN');
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP']);
  });

  it('a session that was ended before it began does not', async () => {
    const { accountId } = await person();
    const held = await desk.emailSession(accountId);
    const path = `/auth/sessions/${held.session.id}`;
    const asked = ok(await desk.call('DELETE', path), 202);
    ok(await desk.call('DELETE', path, undefined, await signedHeaders(asked, held)), 204);
    wait(1);
    const row = await begin(accountId);
    await app.advance(DELAY);
    expect((await again(row)).status).toBe('DONE');
  });

  it('a contact that changed meanwhile', async () => {
    const { accountId, customer } = await person();
    const row = await begin(accountId);
    await app.settle();
    const change = { customerType: 'INDIVIDUAL', phoneNumber: phoneNumber() };
    ok(await desk.call('PATCH', `/customers/${customer.id}`, change), 200);
    await app.advance(DELAY);
    await expectStopped(row, 'CONTACT_CHANGED');
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP']);
    const told = (await writtenTo(app, customer.id)).filter(({ kind }) => /CANCELLED/.test(kind));
    expect(told.map(({ to }) => to)).toEqual([customer.email, change.phoneNumber]);
  });

  it('a credential of the same kind that is there by now', async () => {
    const { accountId, customer } = await person();
    const row = await begin(accountId);
    await app.operate(async (ctx) => {
      const wallet = await findWallet(ctx, accountId);
      if (wallet) addCredential(ctx, wallet, { type: 'SMS_OTP', slot: 'SMS_OTP' });
    });
    await app.advance(DELAY);
    await expectStopped(row, 'CREDENTIAL_THERE');
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
    expect(await announced(customer.id)).toContain('SMS CANCELLED');
  });

  it('an account that was closed', async () => {
    const { accountId, customer } = await person();
    const row = await begin(accountId);
    await app.settle();
    const sql = `update internal_accounts set status = 'CLOSED', version = version + 1 where id = $1`;
    await app.runtime.db.query(sql, [accountId]);
    await app.advance(DELAY);
    await expectStopped(row, 'WALLET_GONE');
    expect(await announced(customer.id)).toContain('EMAIL CANCELLED');
  });

  it('a customer who was deleted, and one who was erased', async () => {
    const [deleted, erased] = [await person(), await person()];
    const rows = [await begin(deleted.accountId), await begin(erased.accountId)] as const;
    for (const { customer } of [deleted, erased]) {
      ok(await desk.call('DELETE', `/customers/${customer.id}`), 200);
    }
    await erase(app.runtime, erased.customer.id, { actor: 'Grace', reason: null });
    await expectStopped(rows[1], 'WALLET_GONE');
    await app.advance(DELAY);
    await expectStopped(rows[0], 'WALLET_GONE');
    expect(await again(rows[1])).toMatchObject({ actor: 'Ada', reason: 'lost the mailbox' });
  });

  it('that nobody could be told', async () => {
    const as = app.production;
    const mine = walletDesk(app, { as });
    const { accountId } = await mine.customerWithWallet({ phoneNumber: phoneNumber() });
    const row = await begin(accountId, 'SMS_OTP', DELAY, as);
    await app.advance(DELAY);
    await expectStopped(row, 'NOT_ANNOUNCED');
    expect(await mine.credentialsOf(accountId)).toHaveLength(1);
  });
});

describe('how long is waited', () => {
  it('is what the server is told, where the operator was told less', async () => {
    const { accountId } = await person();
    const row = await begin(accountId, 'SMS_OTP', HOUR);
    await app.advance(HOUR);
    expect(await again(row)).toMatchObject({
      ...{ status: 'WAITING', due_at: row.created_at + DELAY },
    });
    await app.advance(DELAY - HOUR - 1);
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP']);
    await app.advance(1);
    expect(await typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
  });

  it('is no question where the server knows of no way back', async () => {
    const off = await startApp();
    try {
      const mine = walletDesk(off);
      const { accountId } = await mine.customerWithWallet({ phoneNumber: phoneNumber() });
      const row = await off.operate((ctx) => startRecovery(ctx, asking(accountId)));
      await off.advance(DELAY);
      expect(await off.runtime.db.read(walletRecoveries, row.id)).toMatchObject({
        ...{ status: 'CANCELLED', cancelled_for: 'SWITCHED_OFF' },
      });
      expect(await mine.credentialsOf(accountId)).toHaveLength(1);
    } finally {
      await off.close();
    }
  });
});

describe('several servers', () => {
  /** Another whole server on the same database. */
  const secondServer = () =>
    compose(
      {
        databaseUrl: app.databaseUrl,
        masterKey: Buffer.alloc(32, 7),
        serviceWord: 'Service',
        files: { folder: app.filesFolder },
        walletRecoveryMs: DELAY,
      },
      app.world,
      createLog(app.world, 'error', () => undefined),
    );

  let people: Awaited<ReturnType<typeof person>>[];
  beforeEach(async () => {
    people = await Promise.all([person(), person(), person(), person()]);
  });

  it('add each credential once, also when one of them is gone in the middle of it', async () => {
    for (const { accountId } of people) await begin(accountId);
    await app.settle();
    const second = await secondServer();
    try {
      wait(DELAY);
      // One has lost its worker in the middle of the work.
      const [lost] = await app.runtime.db.query<{ id: string }>(
        `update jobs set due_at = due_at + interval '20 seconds', attempts = 1, version = version + 1
          where id = (select id from jobs where kind = 'wallets.recover' order by due_at limit 1)
          returning id`,
      );
      expect(lost).toBeDefined();
      await Promise.all([second.worker.runDue(), app.worker.runDue(), second.worker.runDue()]);
      wait(20_000);
      await second.worker.runDue();
    } finally {
      await second.stop();
    }
    await app.settle();
    for (const { accountId, customer } of people) {
      expect(await typesOf(accountId)).toEqual(['EMAIL_OTP', 'SMS_OTP']);
      expect(await announced(customer.id)).toEqual([
        ...['EMAIL DONE', 'EMAIL STARTED', 'SMS DONE', 'SMS STARTED'],
      ]);
    }
  });

  it('agree whether a sign-in was sooner', async () => {
    const rows = await Promise.all(people.map(({ accountId }) => begin(accountId)));
    await app.settle();
    wait(DELAY);
    const signIns = people.map(({ accountId }) => desk.emailSession(accountId));
    await Promise.all([...signIns, app.worker.runDue()]);
    await app.settle();
    for (const [at, row] of rows.entries()) {
      const { accountId, customer } = people[at] as (typeof people)[number];
      const { status, cancelled_for } = await again(row);
      const types = await typesOf(accountId);
      if (status === 'DONE') expect(types).toEqual(['EMAIL_OTP', 'SMS_OTP']);
      else {
        expect([status, cancelled_for]).toEqual(['CANCELLED', 'SIGNED_IN']);
        expect(types).toEqual(['EMAIL_OTP']);
      }
      expect(await announced(customer.id)).toHaveLength(4);
    }
  });
});
