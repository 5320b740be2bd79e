// Contact verification in production, with a real mail server and a real bridge for text messages on this
// machine: what goes out, what is kept of it, what happens when nobody answers, and that no code can be
// guessed by asking from many sides at once or read where it does not belong.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { testAppForEach } from '../../../../test/kit/app/test-app.ts';
import {
  confirmCode,
  european,
  sendCode,
  writtenTo,
} from '../../../../test/kit/customers/contacts.ts';
import { type MailServer, startMailServer } from '../../../../test/kit/http/mail-server.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { createCommitter } from '../../../runtime/committer/committer.ts';
import { connectLane } from '../../../runtime/committer/lane.ts';
import { openDatabase } from '../../../runtime/db/database.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { messagePersonalData } from '../../notifications/messages/personal-data.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';

const MINUTE = 60_000;

const mailFrom = 'Codes <codes@pay.example.com>';
let mail: MailServer;
let sms: Receiver;

beforeEach(async () => {
  [mail, sms] = await Promise.all([startMailServer(), startReceiver()]);
});
afterEach(() => Promise.all([mail.close(), sms.close()]));
const app = testAppForEach(() => ({
  connectors: { smtpUrl: mail.url, mailFrom, smsUrl: sms.url },
}));

const as = () => ({ as: app.production });
const person = (more?: object) => european(app, as(), more);

const mailed = (at = -1): string =>
  /^(\d{6}) is your code/m.exec(mail.got.at(at)?.raw ?? '')?.[1] ?? '';
const texted = () => JSON.parse(sms.got.at(-1)?.body ?? '{}');
/** Any other code. */
const not = (code: string, by = 1) => String((Number(code) + by) % 1_000_000).padStart(6, '0');

async function mailedTo(id: string): Promise<string> {
  ok(await sendCode(app, id, 'email', as()), 204);
  await app.settle();
  return mailed();
}

describe('a code in production', () => {
  it('goes out by e-mail and is forgotten here', async () => {
    const { id, email } = await person();
    const code = await mailedTo(id);
    expect(mail.got).toHaveLength(1);
    expect(mail.got[0]).toMatchObject({ from: 'codes@pay.example.com', to: [email] });
    expect(mail.got[0]?.raw).toContain('Subject: Your code for Production');
    const [row] = await writtenTo(app, id);
    expect(row).toMatchObject({ status: 'SENT', attempts: 1, content: null, to: email });
    expect(row?.sent_at).toBe(app.world.now());
    expect(row).not.toHaveProperty('text');
    expect((await confirmCode(app, id, 'email', not(code), as())).status).toBe(400);
    const body = ok(await confirmCode(app, id, 'email', code, as()), 200);
    expect(body.contactVerification).toEqual({ email: 'VERIFIED', phone: 'PENDING' });
  });

  it('goes out by text message', async () => {
    const { id, phoneNumber } = await person();
    ok(await sendCode(app, id, 'phone', as()), 204);
    await app.settle();
    const [row] = await writtenTo(app, id);
    const { text, ...rest } = texted();
    expect(rest).toEqual({ id: row?.id, to: phoneNumber });
    expect(row).toMatchObject({ status: 'SENT', content: null });
    ok(await confirmCode(app, id, 'phone', text.slice(0, 6), as()), 200);
  });

  it('is none before it was sent, and none of the sandbox', async () => {
    const { id } = await person();
    expect((await confirmCode(app, id, 'email', '123456', as())).status).toBe(400);
    const code = await mailedTo(id);
    if (code !== '123456') {
      expect((await confirmCode(app, id, 'email', '123456', as())).status).toBe(400);
    }
  });

  it('gives way to the next one, and works for its own channel and customer alone', async () => {
    const [{ id }, other] = [await person(), await person()];
    const first = await mailedTo(id);
    app.world.set(app.world.now() + 30_000);
    const second = await mailedTo(id);
    expect(mail.got).toHaveLength(2);
    const theirs = await mailedTo(other.id);
    const codes: [string, 'email' | 'phone'][] = [
      [first, 'email'],
      [theirs, 'email'],
      [second, 'phone'],
    ];
    for (const [code, name] of codes) {
      if (code === second && name === 'email') continue; // drawn alike, once in a million
      expect((await confirmCode(app, id, name, code, as())).status).toBe(400);
    }
    ok(await confirmCode(app, id, 'email', second, as()), 200);
  });

  it('shows nothing about an address it was not sent to', async () => {
    // Without a wallet, whose codes would go to the address.
    const { id } = await person({ currencies: ['USD'] });
    const code = await mailedTo(id);
    const patch = { customerType: 'INDIVIDUAL', email: 'another@example.org' };
    ok(await app.call('PATCH', `/customers/${id}`, patch, as()), 200);
    expect((await confirmCode(app, id, 'email', code, as())).status).toBe(400);
    app.world.set(app.world.now() + 30_000);
    const next = await mailedTo(id);
    expect(mail.got.at(-1)?.to).toEqual(['another@example.org']);
    ok(await confirmCode(app, id, 'email', next, as()), 200);
  });

  it('is 501 where nothing is connected, and stages nothing', async () => {
    const bare = await startApp();
    const at = { as: bare.production };
    const { id } = await european(bare, at);
    for (const name of ['email', 'phone'] as const) {
      const refused = await sendCode(bare, id, name, at);
      expect([refused.status, refused.body.code]).toEqual([501, 'NOT_IMPLEMENTED']);
    }
    expect(await writtenTo(bare, id)).toEqual([]);
    await bare.close();
  });
});

describe('a message that does not get through', () => {
  it('is given up where the address is refused', async () => {
    const { id, email } = await person();
    mail.refuse(email, 550);
    ok(await sendCode(app, id, 'email', as()), 204);
    await app.settle();
    const [row] = await writtenTo(app, id);
    expect(row).toMatchObject({ status: 'FAILED', failure: 'REFUSED', content: null, attempts: 1 });
  });

  it.each([503, 401])('is tried again until somebody takes it: %i', async (status) => {
    const { id } = await person();
    sms.behave(status);
    ok(await sendCode(app, id, 'phone', as()), 204);
    await app.settle();
    await app.advance(5_000);
    const [waiting] = await writtenTo(app, id);
    expect(waiting?.status).toBe('QUEUED');
    const tried = sms.got.length;
    expect(tried).toBeGreaterThan(1);
    sms.behave(200);
    await app.advance(MINUTE);
    expect(sms.got).toHaveLength(tried + 1);
    expect(new Set(sms.got.map((each) => each.id)).size).toBe(1);
    expect(await writtenTo(app, id)).toMatchObject([{ status: 'SENT', attempts: tried + 1 }]);
  });

  it('is not sent any more when its code has ended', async () => {
    const { id } = await person();
    sms.behave(503);
    ok(await sendCode(app, id, 'phone', as()), 204);
    await app.advance(10 * MINUTE - 1);
    sms.behave(200);
    const tried = sms.got.length;
    await app.advance(60 * MINUTE);
    expect(sms.got).toHaveLength(tried);
    const [row] = await writtenTo(app, id);
    expect(row).toMatchObject({ status: 'FAILED', failure: 'EXPIRED', content: null });
  });

  it('is forgotten, waiting or gone, with the customer', async () => {
    const { id } = await person();
    await mailedTo(id);
    ok(await sendCode(app, id, 'phone', as()), 204);
    const subject = { id, platform_id: app.production.id, created_at: 0 };
    await app.operate(async (ctx) => messagePersonalData.forget?.(ctx, subject), app.production);
    await app.settle();
    expect(sms.got).toEqual([]);
    expect(await writtenTo(app, id)).toMatchObject([
      { status: 'SENT', recipient: null, content: null },
      { status: 'FAILED', failure: 'ERASED', recipient: null, content: null },
    ]);
  });

  it('is not sent when the key of the customer is gone', async () => {
    const { id } = await person();
    ok(await sendCode(app, id, 'phone', as()), 204);
    await app.runtime.db.query('update customers set data_key = null where id = $1', [id]);
    await app.settle();
    expect(sms.got).toEqual([]);
    expect(await writtenTo(app, id)).toMatchObject([{ status: 'FAILED', failure: 'ERASED' }]);
  });
});

/** The server once more, with connections of its own, on the same database. */
async function beside<R>(work: (runtime: Runtime) => Promise<R>): Promise<R> {
  const db = openDatabase({ url: app.databaseUrl });
  const committer = createCommitter({ connect: () => connectLane(app.databaseUrl) });
  try {
    return await work({ ...app.runtime, db, committer });
  } finally {
    await committer.close();
    await db.close();
  }
}

async function confirmOn(runtime: Runtime, customerId: string, code: string): Promise<number> {
  const found = app.operations.find(
    ({ contract }) => contract.operationId === 'confirmCustomerEmailVerification',
  );
  const caller = systemCaller(app.production.id, 'production');
  const input = { params: { customerId }, query: {}, headers: {}, body: { code } };
  const outcome = await operate(runtime, caller, async (ctx) => found?.run(ctx, input));
  if (!outcome) throw new Error('not served');
  return 'refused' in outcome ? outcome.refused.status : outcome.status;
}

describe('guessing', () => {
  const wrongTries = async () =>
    (await app.runtime.db.query<{ wrong: number }>('select wrong from codes', []))[0]?.wrong;

  it('gets five tries in all, however many come at once and at however many servers', async () => {
    const { id } = await person();
    const code = await mailedTo(id);
    await beside(async (second) => {
      const guesses = Array.from({ length: 40 }, (_, at) =>
        confirmOn(at % 2 ? second : app.runtime, id, not(code, at + 1)),
      );
      expect(new Set(await Promise.all(guesses))).toEqual(new Set([400]));
      expect(await wrongTries()).toBe(5);
      for (const server of [app.runtime, second]) {
        expect(await confirmOn(server, id, code)).toBe(400);
      }
    });
  });

  it('takes the right code once', async () => {
    const { id } = await person();
    const code = await mailedTo(id);
    await beside(async (second) => {
      const both = [app.runtime, second, app.runtime, second];
      const answers = await Promise.all(
        both.map((each) => confirmOn(each, id, code).catch((error) => error.status as number)),
      );
      const [first, ...others] = answers.sort();
      expect(first).toBe(200);
      // Whoever read the customer before and the code after it was used sees a code that is none.
      for (const other of others) expect([400, 409]).toContain(other);
    });
  });

  it('finds no code and no address where they do not belong', async () => {
    const { id, email, phoneNumber } = await person();
    mail.refuse(email, 451);
    sms.behave(500);
    for (const name of ['email', 'phone'] as const) {
      ok(await sendCode(app, id, name, as()), 204);
    }
    await app.advance(3_000);
    const codes = (await writtenTo(app, id)).map((row) => String(row.text).slice(0, 6));
    expect(codes).toHaveLength(2);
    expect(sms.got.length).toBeGreaterThan(0);
    const refused = await confirmCode(app, id, 'email', not(codes[0] as string), as());
    const secrets = [...codes, email, phoneNumber];
    const lines = app.log.join('\n');
    expect(lines).toContain('job failed');
    const { db } = app.runtime;
    const kept = await db.query(
      `select to_json(m)::text as row from messages m union all
       select to_json(c)::text from codes c union all
       select to_json(j)::text from jobs j union all
       select data from events where subject <> $1`,
      [id],
    );
    expect(kept.length).toBeGreaterThan(3);
    for (const place of [lines, JSON.stringify(refused.body), JSON.stringify(kept)]) {
      for (const secret of secrets)
        expect(place).not.toMatch(new RegExp(`\\b${secret.replace('+', '\\+')}\\b`));
    }
  });
});
