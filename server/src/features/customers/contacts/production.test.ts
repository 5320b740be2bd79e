// Contact verification in production, with a local mail server and a local SMS bridge: delivery,
// retention, retries, and protection against guessing and disclosure of codes.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../../test/kit/app/harness.ts';
import { testAppForEach } from '../../../../test/kit/app/test-app.ts';
import {
  confirmCode,
  createEuropeanCustomer,
  messagesTo,
  sendCode,
} from '../../../../test/kit/customers/contacts.ts';
import { type MailServer, startMailServer } from '../../../../test/kit/http/mail-server.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { createCommitter } from '../../../runtime/committer/committer.ts';
import { openDatabase } from '../../../runtime/db/database.ts';
import { connectLane } from '../../../runtime/db/lane.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { messagePersonalData } from '../../notifications/messages/personal-data.ts';
import { systemCaller } from '../../tenancy/platform/index.ts';

const MINUTE_MS = 60_000;

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

const productionOptions = () => ({ platform: app.production });
const createPerson = (overrides?: object) =>
  createEuropeanCustomer(app, productionOptions(), overrides);

const readMailedCode = (index = -1): string =>
  /^(\d{6}) is your code/m.exec(mail.receivedMail.at(index)?.rawText ?? '')?.[1] ?? '';
const readTextMessage = () => JSON.parse(sms.arrivals.at(-1)?.body ?? '{}');
const wrongCode = (code: string, offset = 1) =>
  String((Number(code) + offset) % 1_000_000).padStart(6, '0');

async function sendMailedCode(id: string): Promise<string> {
  ok(await sendCode(app, id, 'email', productionOptions()), 204);
  await app.settle();
  return readMailedCode();
}

describe('a code in production', () => {
  it('is sent by e-mail, and its text is deleted afterwards', async () => {
    const { id, email } = await createPerson();
    const code = await sendMailedCode(id);
    expect(mail.receivedMail).toHaveLength(1);
    expect(mail.receivedMail[0]).toMatchObject({ from: 'codes@pay.example.com', to: [email] });
    expect(mail.receivedMail[0]?.rawText).toContain('Subject: Your code for Production');
    const [row] = await messagesTo(app, id);
    expect(row).toMatchObject({ status: 'SENT', attempts: 1, content: null, to: email });
    expect(row?.sent_at).toBe(app.effects.now());
    expect(row).not.toHaveProperty('text');
    expect((await confirmCode(app, id, 'email', wrongCode(code), productionOptions())).status).toBe(
      400,
    );
    const body = ok(await confirmCode(app, id, 'email', code, productionOptions()), 200);
    expect(body.contactVerification).toEqual({ email: 'VERIFIED', phone: 'PENDING' });
  });

  it('is sent by text message', async () => {
    const { id, phoneNumber } = await createPerson();
    ok(await sendCode(app, id, 'phone', productionOptions()), 204);
    await app.settle();
    const [row] = await messagesTo(app, id);
    const { text, ...rest } = readTextMessage();
    expect(rest).toEqual({ id: row?.id, to: phoneNumber });
    expect(row).toMatchObject({ status: 'SENT', content: null });
    ok(await confirmCode(app, id, 'phone', text.slice(0, 6), productionOptions()), 200);
  });

  it('differs from the sandbox code, which is rejected', async () => {
    const { id } = await createPerson();
    expect((await confirmCode(app, id, 'email', '123456', productionOptions())).status).toBe(400);
    const code = await sendMailedCode(id);
    if (code !== '123456') {
      expect((await confirmCode(app, id, 'email', '123456', productionOptions())).status).toBe(400);
    }
  });

  it('is replaced by the next code and bound to its channel and customer', async () => {
    const [{ id }, otherPerson] = [await createPerson(), await createPerson()];
    const firstMailedCode = await sendMailedCode(id);
    app.effects.set(app.effects.now() + 30_000);
    const secondMailedCode = await sendMailedCode(id);
    expect(mail.receivedMail).toHaveLength(2);
    const otherCode = await sendMailedCode(otherPerson.id);
    const codes: [string, 'email' | 'phone'][] = [
      [firstMailedCode, 'email'],
      [otherCode, 'email'],
      [secondMailedCode, 'phone'],
    ];
    for (const [code, name] of codes) {
      // The two codes are equal in one of a million cases.
      if (code === secondMailedCode && name === 'email') continue;
      expect((await confirmCode(app, id, name, code, productionOptions())).status).toBe(400);
    }
    ok(await confirmCode(app, id, 'email', secondMailedCode, productionOptions()), 200);
  });

  it('does not verify a contact that changed after it was sent', async () => {
    // The customer has no wallet, because codes of a wallet would also be sent to the contact.
    const { id } = await createPerson({ currencies: ['USD'] });
    const code = await sendMailedCode(id);
    const patch = { customerType: 'INDIVIDUAL', email: 'another@example.org' };
    ok(await app.call('PATCH', `/customers/${id}`, patch, productionOptions()), 200);
    expect((await confirmCode(app, id, 'email', code, productionOptions())).status).toBe(400);
    app.effects.set(app.effects.now() + 30_000);
    const nextMailedCode = await sendMailedCode(id);
    expect(mail.receivedMail.at(-1)?.to).toEqual(['another@example.org']);
    ok(await confirmCode(app, id, 'email', nextMailedCode, productionOptions()), 200);
  });

  it('is not stored without a provider, and the request is rejected with 501', async () => {
    const appWithoutProviders = await startApp();
    const options = { platform: appWithoutProviders.production };
    const { id } = await createEuropeanCustomer(appWithoutProviders, options);
    for (const name of ['email', 'phone'] as const) {
      const rejectedResponse = await sendCode(appWithoutProviders, id, name, options);
      expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([
        501,
        'NOT_IMPLEMENTED',
      ]);
    }
    expect(await messagesTo(appWithoutProviders, id)).toEqual([]);
    await appWithoutProviders.close();
  });
});

describe('a message', () => {
  it('fails if the address is rejected', async () => {
    const { id, email } = await createPerson();
    mail.reject(email, 550);
    ok(await sendCode(app, id, 'email', productionOptions()), 204);
    await app.settle();
    const [row] = await messagesTo(app, id);
    expect(row).toMatchObject({ status: 'FAILED', failure: 'REFUSED', content: null, attempts: 1 });
  });

  it.each([503, 401])(
    'is retried after status %i until the provider accepts it',
    async (status) => {
      const { id } = await createPerson();
      sms.behave(status);
      ok(await sendCode(app, id, 'phone', productionOptions()), 204);
      await app.settle();
      await app.advance(5_000);
      const [pendingMessage] = await messagesTo(app, id);
      expect(pendingMessage?.status).toBe('QUEUED');
      const attemptCount = sms.arrivals.length;
      expect(attemptCount).toBeGreaterThan(1);
      sms.behave(200);
      await app.advance(MINUTE_MS);
      expect(sms.arrivals).toHaveLength(attemptCount + 1);
      expect(new Set(sms.arrivals.map((each) => each.id)).size).toBe(1);
      expect(await messagesTo(app, id)).toMatchObject([
        { status: 'SENT', attempts: attemptCount + 1 },
      ]);
    },
  );

  it('is not sent after its code has expired', async () => {
    const { id } = await createPerson();
    sms.behave(503);
    ok(await sendCode(app, id, 'phone', productionOptions()), 204);
    await app.advance(10 * MINUTE_MS - 1);
    sms.behave(200);
    const attemptCount = sms.arrivals.length;
    await app.advance(60 * MINUTE_MS);
    expect(sms.arrivals).toHaveLength(attemptCount);
    const [row] = await messagesTo(app, id);
    expect(row).toMatchObject({ status: 'FAILED', failure: 'EXPIRED', content: null });
  });

  it('is erased with the customer, whether queued or sent', async () => {
    const { id } = await createPerson();
    await sendMailedCode(id);
    ok(await sendCode(app, id, 'phone', productionOptions()), 204);
    const subject = { id, platform_id: app.production.id, created_at: 0 };
    await app.operate(async (ctx) => messagePersonalData.erase?.(ctx, subject), app.production);
    await app.settle();
    expect(sms.arrivals).toEqual([]);
    expect(await messagesTo(app, id)).toMatchObject([
      { status: 'SENT', recipient: null, content: null },
      { status: 'FAILED', failure: 'ERASED', recipient: null, content: null },
    ]);
  });

  it('is not sent if the data key of the customer was erased', async () => {
    const { id } = await createPerson();
    ok(await sendCode(app, id, 'phone', productionOptions()), 204);
    await app.runtime.db.query('update customers set data_key = null where id = $1', [id]);
    await app.settle();
    expect(sms.arrivals).toEqual([]);
    expect(await messagesTo(app, id)).toMatchObject([{ status: 'FAILED', failure: 'ERASED' }]);
  });
});

/** Runs work with a second runtime on the same database, as in another server process. */
async function runWithSecondProcess<R>(work: (runtime: Runtime) => Promise<R>): Promise<R> {
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
  const operation = app.operations.find(
    ({ contract }) => contract.operationId === 'confirmCustomerEmailVerification',
  );
  const caller = systemCaller(app.production.id, 'production');
  const input = { params: { customerId }, query: {}, headers: {}, body: { code } };
  const outcome = await operate(runtime, caller, async (ctx) => operation?.run(ctx, input));
  if (!outcome) throw new Error('The operation confirmCustomerEmailVerification does not exist.');
  return 'rejected' in outcome ? outcome.rejected.status : outcome.status;
}

describe('the verification of a code', () => {
  const countWrongAttempts = async () =>
    (await app.runtime.db.query<{ wrong: number }>('select wrong from codes', []))[0]?.wrong;

  it('is limited to five attempts across concurrent requests and servers', async () => {
    const { id } = await createPerson();
    const code = await sendMailedCode(id);
    await runWithSecondProcess(async (secondRuntime) => {
      const guesses = Array.from({ length: 40 }, (_, index) =>
        confirmOn(index % 2 ? secondRuntime : app.runtime, id, wrongCode(code, index + 1)),
      );
      expect(new Set(await Promise.all(guesses))).toEqual(new Set([400]));
      expect(await countWrongAttempts()).toBe(5);
      for (const server of [app.runtime, secondRuntime]) {
        expect(await confirmOn(server, id, code)).toBe(400);
      }
    });
  });

  it('accepts the correct code once', async () => {
    const { id } = await createPerson();
    const code = await sendMailedCode(id);
    await runWithSecondProcess(async (secondRuntime) => {
      const runtimes = [app.runtime, secondRuntime, app.runtime, secondRuntime];
      const statuses = await Promise.all(
        runtimes.map((each) => confirmOn(each, id, code).catch((error) => error.status as number)),
      );
      const [firstStatus, ...rejections] = statuses.sort();
      expect(firstStatus).toBe(200);
      // 400: the request read the customer before the use of the code, and the code afterwards.
      for (const rejection of rejections) expect([400, 409]).toContain(rejection);
    });
  });

  it('exposes no code or contact in logs, replies and tables', async () => {
    const { id, email, phoneNumber } = await createPerson();
    mail.reject(email, 451);
    sms.behave(500);
    for (const name of ['email', 'phone'] as const) {
      ok(await sendCode(app, id, name, productionOptions()), 204);
    }
    await app.advance(3_000);
    const codes = (await messagesTo(app, id)).map((row) => String(row.text).slice(0, 6));
    expect(codes).toHaveLength(2);
    expect(sms.arrivals.length).toBeGreaterThan(0);
    const rejectedResponse = await confirmCode(
      app,
      id,
      'email',
      wrongCode(codes[0] as string),
      productionOptions(),
    );
    const secrets = [...codes, email, phoneNumber];
    const lines = app.log.join('\n');
    expect(lines).toContain('job failed');
    const { db } = app.runtime;
    const storedTexts = await db.query(
      `select to_json(m)::text as row from messages m union all
       select to_json(c)::text from codes c union all
       select to_json(j)::text from jobs j union all
       select data from events where subject <> $1`,
      [id],
    );
    expect(storedTexts.length).toBeGreaterThan(3);
    for (const output of [
      lines,
      JSON.stringify(rejectedResponse.body),
      JSON.stringify(storedTexts),
    ]) {
      for (const secret of secrets)
        expect(output).not.toMatch(new RegExp(`\\b${secret.replace('+', '\\+')}\\b`));
    }
  });
});
