// Codes about embedded wallets: their credentials, sessions and what they sign.
import { customer, ok } from '../../kit/app/fixtures.ts';
import {
  drawKeys,
  passkeyBody,
  signedHeaders,
  walletFixture,
} from '../../kit/wallets/embedded-wallets.ts';
import { type CodeFixture, nobody, type Way, way } from './kit.ts';

/** A wallet and a session of it. */
async function signedIn({ wallets }: CodeFixture) {
  const { accountId, customer: person, credential } = await wallets.customerWithWallet();
  return { accountId, person, credential, session: await wallets.emailSession(accountId) };
}

let counter = 0;
const freshMail = () => `codes-${++counter}@example.com`;
const freshPhone = () => `+1555900${String(++counter).padStart(4, '0')}`;

/** A change of a contact, which the holder signs. */
const changing = (fields: object) => ({ customerType: 'INDIVIDUAL', ...fields });

/** Gives a wallet a credential for codes by text message. */
async function withSms(fixture: CodeFixture, phoneNumber: string) {
  const { wallets } = fixture;
  const { accountId, customer: person } = await wallets.customerWithWallet({ phoneNumber });
  const session = await wallets.emailSession(accountId);
  const body = { type: 'SMS_OTP', accountId };
  const sms = ok(await wallets.signed('POST', '/auth/credentials', body, session), 201);
  return { accountId, person, session, sms };
}

/** A contact is to be changed, and the credential that goes by it is gone when the signature comes. */
async function lostBetween(wallets: CodeFixture['wallets'], kind: 'email' | 'sms') {
  const { customer: person, byEmail, bySms, ...rest } = await wallets.walletWithEmailAndSms();
  const signer = kind === 'email' ? bySms : byEmail;
  const fields = kind === 'email' ? { email: freshMail() } : { phoneNumber: freshPhone() };
  const path = `/customers/${person.id}`;
  const first = ok(await wallets.call('PATCH', path, changing(fields)), 202);
  const signature = await signedHeaders(first, signer);
  const gone = `/auth/credentials/${rest[kind].id}`;
  ok(await wallets.signed('DELETE', gone, undefined, signer), 204);
  return wallets.call('PATCH', path, changing(fields), signature);
}

const CREDENTIALS: readonly Way[] = [
  way(
    'EMAIL_OTP_CREDENTIAL_SYNC_FAILED',
    'Change an email address that codes go to into one that ends in `+sync-failed` before its @',
    async ({ wallets }) => {
      const { customer: person, byEmail } = await wallets.walletWithEmailAndSms();
      const email = freshMail().replace('@', '+sync-failed@');
      return wallets.signed('PATCH', `/customers/${person.id}`, changing({ email }), byEmail);
    },
  ),
  way('EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS', 'Add EMAIL_OTP to a wallet that has it', async (d) => {
    const { accountId } = await d.wallets.customerWithWallet();
    return d.post('/auth/credentials', { type: 'EMAIL_OTP', accountId });
  }),
  way(
    'SMS_OTP_CREDENTIAL_ALREADY_EXISTS',
    'Add SMS_OTP to a wallet that has it',
    async (fixture) => {
      const { accountId } = await withSms(fixture, freshPhone());
      return fixture.post('/auth/credentials', { type: 'SMS_OTP', accountId });
    },
  ),
  way('PASSKEY_CREDENTIAL_ALREADY_EXISTS', 'Add one passkey twice to a wallet', async (fixture) => {
    const { accountId, session } = await signedIn(fixture);
    const body = passkeyBody(accountId);
    await fixture.wallets.signed('POST', '/auth/credentials', body, session);
    return fixture.post('/auth/credentials', body);
  }),
  way('AUTH_METHOD_NOT_FOUND', 'Challenge a credential that is none', ({ post }) =>
    post(`/auth/credentials/${nobody('AuthMethod')}/challenge`),
  ),
  way('SESSION_NOT_FOUND', 'End a session that is none', ({ call }) =>
    call('DELETE', `/auth/sessions/${nobody('Session')}`),
  ),
  way(
    'RATE_LIMITED',
    'Challenge one credential more than sixty times in a minute',
    async (fixture) => {
      const { credential } = await fixture.wallets.customerWithWallet();
      const path = `/auth/credentials/${credential.id}/challenge`;
      for (let at = 0; at < 60; at++) await fixture.post(path);
      return fixture.post(path);
    },
  ),
  way(
    'WALLET_NOT_PROVISIONED',
    'Add a credential to a wallet that PATCH /config has just called for, before it is ready',
    async ({ app, post, call }) => {
      const as = await app.newPlatform('Late');
      const { body } = await call('GET', '/config', undefined, { as });
      const all = body.supportedCurrencies as { currencyCode: string }[];
      const set = (supportedCurrencies: object[]) =>
        call('PATCH', '/config', { supportedCurrencies }, { as });
      await set(all.filter((each) => each.currencyCode !== 'USDB'));
      const { id } = await customer(app, { as }, { email: freshMail() });
      await app.settle();
      await set(all);
      // Jobs run one after another: the first opens what is missing, the second makes it usable.
      await app.worker.runDue();
      const path = `/customers/internal-accounts?customerId=${id}&type=EMBEDDED_WALLET`;
      const { data } = (await call('GET', path, undefined, { as })).body;
      return post('/auth/credentials', { type: 'SMS_OTP', accountId: data[0].id }, { as });
    },
  ),
];

const SIGNATURES: readonly Way[] = [
  way('WALLET_SIGNATURE_MISSING', 'Send a `Request-Id` without a signature', async (fixture) => {
    const { session } = await signedIn(fixture);
    return fixture.call('DELETE', `/auth/sessions/${session.session.id}`, undefined, {
      headers: { 'request-id': nobody('Request') },
    });
  }),
  way('REQUEST_ID_MISSING', 'Send a signature without a `Request-Id`', async (fixture) => {
    const { session } = await signedIn(fixture);
    return fixture.call('DELETE', `/auth/sessions/${session.session.id}`, undefined, {
      headers: { 'service-wallet-signature': 'sandbox-valid-signature' },
    });
  }),
  way('WALLET_SIGNATURE_MALFORMED', 'Send a signature that is no stamp', async (fixture) => {
    const { session } = await signedIn(fixture);
    const path = `/auth/sessions/${session.session.id}`;
    const first = ok(await fixture.app.call('DELETE', path), 202);
    const headers = { 'request-id': first.requestId, 'service-wallet-signature': 'nonsense!' };
    return fixture.call('DELETE', path, undefined, { headers });
  }),
  way('WALLET_SIGNATURE_BODY_MISMATCH', 'Sign for one body and send another', async (fixture) => {
    const { accountId, session } = await signedIn(fixture);
    const path = `/internal-accounts/${accountId}`;
    const { second } = await fixture.wallets.signedRetry(
      'PATCH',
      path,
      { privateEnabled: true },
      session,
      { change: { privateEnabled: false } },
    );
    return second;
  }),
  way(
    'WALLET_SIGNATURE_INVALID',
    'Sign with a key that is no session of the wallet, in production; in the sandbox it is UNAUTHORIZED',
    async ({ app }) => {
      const fixture = walletFixture(app, { as: app.production });
      const { accountId } = await fixture.customerWithWallet();
      const path = `/internal-accounts/${accountId}`;
      return fixture.signed('PATCH', path, { privateEnabled: true }, drawKeys());
    },
  ),
];

const CONTACTS: readonly Way[] = [
  way(
    'EMAIL_OTP_EMAIL_ALREADY_EXISTS',
    'Change a customer’s e-mail to one that codes of another wallet go to',
    async (fixture) => {
      const [one, two] = [await signedIn(fixture), await signedIn(fixture)];
      return fixture.call(
        'PATCH',
        `/customers/${one.person.id}`,
        changing({ email: two.person.email }),
      );
    },
  ),
  way(
    'SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS',
    'Change a customer’s number to one that codes of another wallet go to',
    async (fixture) => {
      const [one, two] = [
        await withSms(fixture, freshPhone()),
        await withSms(fixture, freshPhone()),
      ];
      const { phoneNumber } = two.person;
      return fixture.call('PATCH', `/customers/${one.person.id}`, changing({ phoneNumber }));
    },
  ),
  way(
    'EMAIL_OTP_CREDENTIAL_SET_CHANGED',
    'Remove the EMAIL_OTP credential between the two requests that change the e-mail',
    ({ wallets }) => lostBetween(wallets, 'email'),
  ),
  way(
    'SMS_OTP_CREDENTIAL_SET_CHANGED',
    'Remove the SMS_OTP credential between the two requests that change the number',
    ({ wallets }) => lostBetween(wallets, 'sms'),
  ),
];

export const WALLETS: readonly Way[] = [...CREDENTIALS, ...SIGNATURES, ...CONTACTS];
