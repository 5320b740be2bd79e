// Scenario of a customer under SCA: every factor is enrolled, used for login and payment, lost and reset,
// each with a failed attempt first. Secrets are recorded as they are created; six-digit codes are searched as
// words.
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { receiveFunds } from '../../../src/features/payments/quotes/index.ts';
import { internalAccount, ok, quoteBody } from '../app/fixtures.ts';
import type { Answer, TestApp, TestPlatform } from '../app/harness.ts';
import { confirmCode, european, sendCode } from '../customers/contacts.ts';
import { assertionJson, codeAt, factorFixture, registrationJson } from '../sca/factors.ts';
import { authenticator } from '../wallets/authenticator.ts';
import type { Exchange, SecretList } from './search.ts';

export interface StrongLife {
  app: TestApp;
  as: TestPlatform;
  secrets: SecretList;
  exchanges: Exchange[];
  /** The latest code sent to a customer. */
  sentCode(): Promise<string>;
  /** Records the stored data now, because some of it is deleted later. */
  look(): Promise<void>;
  /** Called before a rate-limited request. */
  wait(): void;
}

export const hush = (bytes = 12) => `Hush${randomBytes(bytes).toString('hex')}`;
export const keyed = () => ({ 'idempotency-key': randomBytes(12).toString('hex') });

/** An IP address of the documentation ranges. */
const place = ({ secrets }: StrongLife) => {
  const [a = 0, ...rest] = randomBytes(7);
  const parts = (Buffer.from(rest).toString('hex').match(/.{4}/g) ?? []).join(':');
  const address = a % 2 ? `2001:db8:7:1:2:${parts}` : `198.51.${100 + (a % 100)}.${100 + (a % 99)}`;
  return secrets.note('an address of an end user', address);
};

const wrongCode = ({ secrets }: StrongLife) => secrets.note('a wrong code', hush());

/** The sent code, recorded as a secret unless it is the sandbox code. */
async function sentCode({ as, secrets, ...life }: StrongLife): Promise<string> {
  const code = await life.sentCode();
  return as.environment === 'sandbox' ? code : secrets.noteWord('a code by SMS', code);
}

type Body = Answer['body'];

function fixtures(life: StrongLife) {
  const { app, as } = life;
  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    app.call(method, path, body, { as, headers: method === 'POST' ? keyed() : {} });
  return {
    ask,
    factors: factorFixture(app, { as }),
    /** Clears failed attempts. */
    forgive: async (id: string) => {
      const eventType = 'RESET_PASSWORD_COMPLETED';
      ok(await ask('POST', `/sca/record-event?customerId=${id}`, { eventType }), 200);
    },
  };
}

type Fixtures = ReturnType<typeof fixtures>;

/** Expects the rejection of a wrong proof. */
const expectWrong = (answer: Answer) => expect([answer.status, answer.body.code]).toEqual(BAD);
const BAD = [400, 'INVALID_INPUT'];

async function approved(life: StrongLife): Promise<string> {
  const { app, as } = life;
  const { id } = await european(app, { as }, { currencies: ['EUR'] });
  const sql = `update customers set status = 'APPROVED', version = version + 1 where id = $1`;
  await app.runtime.db.query(sql, [id]);
  ok(await sendCode(app, id, 'phone', { as }), 204);
  const right = await sentCode(life);
  expect((await confirmCode(app, id, 'phone', wrongCode(life), { as })).status).toBe(400);
  ok(await confirmCode(app, id, 'phone', right, { as }), 200);
  life.wait();
  return id;
}

async function logInBySms(life: StrongLife, { ask }: Fixtures, id: string): Promise<void> {
  const start = { factor: 'SMS_OTP' };
  const { challengeId } = ok(await ask('POST', `/sca/login/start?customerId=${id}`, start), 200);
  const code = await sentCode(life);
  const path = `/sca/login/complete?customerId=${id}`;
  const proof = { ...start, challengeId, code, endUserIpAddress: place(life) };
  expectWrong(await ask('POST', path, { ...proof, code: wrongCode(life) }));
  const elsewhere = life.secrets.note('what is no address', hush());
  expectWrong(await ask('POST', path, { ...proof, endUserIpAddress: elsewhere }));
  ok(await ask('POST', path, proof), 200);
  life.wait();
}

/** Authenticator app: enrollment, login, and login with a recovery code. */
async function useApp(life: StrongLife, { ask, factors }: Fixtures, id: string): Promise<void> {
  const { app, secrets } = life;
  const { secret, secretBase32Encoded: base32 } = ok(await factors.start(id, 'TOTP'), 200);
  const code = () => secrets.noteWord('a code of an app', codeAt(base32, app.effects.now()));
  const confirm = `/sca/factors/confirm?customerId=${id}`;
  const body = { type: 'TOTP', secret, code: code() };
  const other = secrets.note('a secret of another app', randomBytes(20).toString('hex'));
  expectWrong(await ask('POST', confirm, { ...body, secret: other }));
  expectWrong(await ask('POST', confirm, { ...body, code: wrongCode(life) }));
  const { recoveryCodes } = ok(await ask('POST', confirm, body), 200);
  for (const each of recoveryCodes) {
    secrets.note('a recovery code', each);
    secrets.note('a recovery code', each.replaceAll('-', ''));
  }
  life.wait();
  const logIn = (typed: string) =>
    ask('POST', `/sca/login/complete?customerId=${id}`, {
      ...{ factor: 'TOTP', code: typed, endUserIpAddress: place(life) },
    });
  expectWrong(await logIn(secrets.note('a wrong recovery code', 'QQQQ-7777-QQQQ')));
  ok(await logIn(code()), 200);
  ok(await logIn(recoveryCodes[3].toLowerCase()), 200);
  expectWrong(await logIn(recoveryCodes[3]));
}

/** Passkey: enrollment after one for another challenge, and login. */
async function usePasskey(life: StrongLife, { ask, factors }: Fixtures, id: string) {
  const { options, allowedOrigins } = ok(await factors.start(id, 'PASSKEY'), 200);
  const [origin] = allowedOrigins as [string];
  const device = authenticator({ site: options.rp.id, at: origin });
  const confirm = (challenge: string) =>
    ask('POST', `/sca/factors/confirm?customerId=${id}`, {
      ...{ type: 'PASSKEY', origin, credential: registrationJson(device, challenge) },
    });
  const another = () => randomBytes(32).toString('base64url');
  expectWrong(await confirm(another()));
  const { factor } = ok(await confirm(options.challenge), 200);
  // A pending quote contains it, and stored replies of quotes are erased with the customer.
  life.secrets.note('the id of a passkey', device.credentialId, 'idempotency.reply');
  const asked = ok(
    await ask('POST', `/sca/login/start?customerId=${id}`, { factor: 'PASSKEY' }),
    200,
  );
  const logIn = (challenge: string) =>
    ask('POST', `/sca/login/complete?customerId=${id}`, {
      ...{ factor: 'PASSKEY', origin, endUserIpAddress: place(life) },
      passkeyAssertion: assertionJson(device, challenge),
    });
  expectWrong(await logIn(another()));
  ok(await logIn(asked.passkeyOptions.challenge), 200);
  return { device, origin, credentialId: factor.credentialId as string };
}

type Passkey = Awaited<ReturnType<typeof usePasskey>>;

async function funded({ app, as }: StrongLife, id: string): Promise<string> {
  const { id: accountId } = await internalAccount(app, id, 'EUR', { as });
  const deposit = { accountId, currency: 'EUR', amount: 1_000_00n };
  await app.operate((ctx) => receiveFunds(ctx, deposit), as);
  return accountId;
}

async function payee({ ask }: Fixtures, customerId: string): Promise<string> {
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
  const accountInfo = {
    ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
    beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
  };
  const body = { customerId, currency: 'EUR', accountInfo };
  return ok(await ask('POST', '/customers/external-accounts', body), 201).id;
}

/** A payout that requires authorization. */
async function waiting({ ask }: Fixtures, from: string, to: string, factor: string): Promise<Body> {
  const body = quoteBody(from, to, 100_00, { scaFactor: factor });
  const { id } = ok(await ask('POST', '/quotes', body), 201);
  return ok(await ask('POST', `/quotes/${id}/execute`, { scaFactor: factor }), 200);
}

async function pay(life: StrongLife, fixture: Fixtures, id: string, { device, origin }: Passkey) {
  const from = await funded(life, id);
  const to = await payee(fixture, id);
  const answer = (quote: Body, proof: object) =>
    fixture.ask('POST', `/quotes/${quote.id}/authorize`, {
      endUserIpAddress: place(life),
      ...proof,
    });

  const signed = await waiting(fixture, from, to, 'PASSKEY');
  const { challenge } = signed.scaChallenge.passkeyAssertionOptions;
  const proof = (text: string) => ({ passkeyAssertion: assertionJson(device, text), origin });
  expectWrong(await answer(signed, proof(randomBytes(32).toString('base64url'))));
  ok(await answer(signed, proof(challenge)), 200);

  const texted = await waiting(fixture, from, to, 'SMS_OTP');
  await life.look();
  await sentCode(life);
  expectWrong(await answer(texted, { code: wrongCode(life) }));
  life.wait();
  ok(await fixture.ask('POST', `/quotes/${texted.id}/authorize/resend`), 204);
  ok(await answer(texted, { code: await sentCode(life) }), 200);
  life.wait();

  const trust = `/customers/external-accounts/${to}/trust`;
  const { scaChallenge } = ok(await fixture.ask('POST', trust), 200);
  const right = { challengeId: scaChallenge.id, code: await sentCode(life) };
  expectWrong(await fixture.ask('POST', `${trust}/confirm`, { ...right, code: wrongCode(life) }));
  ok(await fixture.ask('POST', `${trust}/confirm`, right), 200);
}

/** Reset of a lost factor, through the hosted page if liveness is connected. */
async function loseApp(life: StrongLife, { ask }: Fixtures, id: string): Promise<void> {
  const { app, secrets, exchanges } = life;
  const reset = `/sca/factors/reset`;
  const whose = `?customerId=${id}`;
  const start = ok(await ask('POST', `${reset}${whose}`, { factor: 'TOTP' }), 201);
  const { resetId, verificationLink } = start;
  await life.look();
  if (verificationLink === undefined) return;
  const open = async (method: 'GET' | 'POST', path: string) => {
    const { statusCode: status, body } = await app.server.inject({ method, url: `/reset/${path}` });
    exchanges.push({ of: `${method} /reset`, answer: { status, body } });
    return status;
  };
  const secret = new URL(verificationLink).pathname.split('/').at(-1) as string;
  const wrong = secrets.note('a secret of a link that is none', randomBytes(20).toString('hex'));
  expect([await open('GET', wrong), await open('POST', wrong)]).toEqual([404, 404]);
  expect([await open('GET', `${secret}/more`), await open('GET', secret)]).toEqual([404, 200]);
  expect([await open('POST', secret), await open('POST', secret)]).toEqual([200, 404]);
  ok(await ask('POST', `${reset}/${resetId}/complete${whose}`, {}), 204);
  for (const each of [secret, wrong]) {
    expect((await ask('GET', `${reset}/${each}${whose}`)).status).toBe(404);
    expect((await ask('POST', `${reset}/${each}/complete${whose}`)).status).toBe(404);
  }
}

/** Proofs in unexpected places; rejections must not repeat them. */
async function sayTooMuch(life: StrongLife, { ask }: Fixtures, id: string): Promise<void> {
  const secret = (bytes?: number) => life.secrets.note('a misplaced proof', hush(bytes));
  const login = `/sca/login/complete?customerId=${id}`;
  const confirm = `/sca/factors/confirm?customerId=${id}`;
  const blob = { id: secret(), response: { clientDataJSON: secret(), [secret()]: secret() } };
  const ip = { endUserIpAddress: place(life) };
  const wrong: [string, object][] = [
    [login, { factor: secret(), code: secret(), ...ip }],
    [login, { factor: 'SMS_OTP', challengeId: secret(), code: secret(), ...ip }],
    [login, { factor: 'SMS_OTP', code: secret(40), ...ip }],
    [login, { factor: 'PASSKEY', code: secret(), passkeyAssertion: secret(), ...ip }],
    [login, { factor: 'PASSKEY', passkeyAssertion: blob, origin: secret(), ...ip }],
    [confirm, { type: 'TOTP', secret: secret(40), code: secret(), [secret()]: secret() }],
    [confirm, { type: 'PASSKEY', origin: secret(), credential: blob }],
    [confirm, { type: secret(), secret: secret() }],
    [`/quotes/${secret()}/authorize`, { code: secret(), ...ip }],
    [`/sca/record-event?customerId=${id}`, { eventType: secret() }],
    [`/sca/login/start?customerId=${secret()}`, { factor: 'SMS_OTP' }],
    [`/sca/factors/reset/${secret()}/complete?customerId=${id}`, { mobile: secret() }],
  ];
  for (const [path, body] of wrong) {
    const { status } = await ask('POST', path, body);
    expect([path, body, status >= 400 && status < 500]).toEqual([path, body, true]);
  }
}

/** The complete scenario, from phone verification to the reset of a factor. */
export async function liveStrongly(life: StrongLife): Promise<void> {
  const fixture = fixtures(life);
  const id = await approved(life);
  await logInBySms(life, fixture, id);
  await useApp(life, fixture, id);
  const passkey = await usePasskey(life, fixture, id);
  await fixture.forgive(id);
  await sayTooMuch(life, fixture, id);
  await fixture.forgive(id);
  await logInBySms(life, fixture, id);
  await pay(life, fixture, id, passkey);
  const started = ok(await fixture.factors.start(id, 'TOTP'), 200);
  expect(started.secret).toMatch(/^[0-9a-f]{40}$/);
  await loseApp(life, fixture, id);
  const path = `/sca/factors/${passkey.credentialId}?customerId=${id}`;
  ok(await fixture.ask('DELETE', path), 204);
}
