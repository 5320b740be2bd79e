// Error codes of embedded wallets: credentials, sessions and signatures.
import { createCustomer, ok } from '../../kit/app/fixtures.ts';
import {
  generateKeys,
  passkeyBody,
  signedHeaders,
  walletFixture,
} from '../../kit/wallets/embedded-wallets.ts';
import { type CodeFixture, type Provocation, provocation, unknownId } from './kit.ts';

/** A wallet with a session. */
async function createSignedInWallet({ wallets }: CodeFixture) {
  const { accountId, customer: person, credential } = await wallets.createWalletCustomer();
  return { accountId, person, credential, session: await wallets.openEmailSession(accountId) };
}

let counter = 0;
const newEmail = () => `codes-${++counter}@example.com`;
const newPhoneNumber = () => `+1555900${String(++counter).padStart(4, '0')}`;

/** A change of contact data, which the holder signs. */
const customerChange = (fields: object) => ({ customerType: 'INDIVIDUAL', ...fields });

/** Creates a wallet and adds an SMS_OTP credential to it. */
async function createSmsWallet(fixture: CodeFixture, phoneNumber: string) {
  const { wallets } = fixture;
  const { accountId, customer: person } = await wallets.createWalletCustomer({ phoneNumber });
  const session = await wallets.openEmailSession(accountId);
  const body = { type: 'SMS_OTP', accountId };
  const sms = ok(await wallets.callSigned('POST', '/auth/credentials', body, session), 201);
  return { accountId, person, session, sms };
}

/** Changes contact data whose credential is removed between the two requests. */
async function changeRemovedContact(wallets: CodeFixture['wallets'], kind: 'email' | 'sms') {
  const {
    customer: person,
    byEmail,
    bySms,
    ...credentials
  } = await wallets.createEmailAndSmsWallet();
  const signer = kind === 'email' ? bySms : byEmail;
  const fields = kind === 'email' ? { email: newEmail() } : { phoneNumber: newPhoneNumber() };
  const path = `/customers/${person.id}`;
  const firstReply = ok(await wallets.call('PATCH', path, customerChange(fields)), 202);
  const signature = await signedHeaders(firstReply, signer);
  const credentialPath = `/auth/credentials/${credentials[kind].id}`;
  ok(await wallets.callSigned('DELETE', credentialPath, undefined, signer), 204);
  return wallets.call('PATCH', path, customerChange(fields), signature);
}

const CREDENTIALS: readonly Provocation[] = [
  provocation(
    'EMAIL_OTP_CREDENTIAL_SYNC_FAILED',
    'Change an e-mail address that receives codes to one with the suffix `+sync-failed` before ' +
      'the @',
    async ({ wallets }) => {
      const { customer: person, byEmail } = await wallets.createEmailAndSmsWallet();
      const email = newEmail().replace('@', '+sync-failed@');
      return wallets.callSigned(
        'PATCH',
        `/customers/${person.id}`,
        customerChange({ email }),
        byEmail,
      );
    },
  ),
  provocation(
    'EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS',
    'Add a second EMAIL_OTP credential to a wallet',
    async (fixture) => {
      const { accountId } = await fixture.wallets.createWalletCustomer();
      return fixture.post('/auth/credentials', { type: 'EMAIL_OTP', accountId });
    },
  ),
  provocation(
    'SMS_OTP_CREDENTIAL_ALREADY_EXISTS',
    'Add a second SMS_OTP credential to a wallet',
    async (fixture) => {
      const { accountId } = await createSmsWallet(fixture, newPhoneNumber());
      return fixture.post('/auth/credentials', { type: 'SMS_OTP', accountId });
    },
  ),
  provocation(
    'PASSKEY_CREDENTIAL_ALREADY_EXISTS',
    'Add one passkey twice to a wallet',
    async (fixture) => {
      const { accountId, session } = await createSignedInWallet(fixture);
      const body = passkeyBody(accountId);
      await fixture.wallets.callSigned('POST', '/auth/credentials', body, session);
      return fixture.post('/auth/credentials', body);
    },
  ),
  provocation('AUTH_METHOD_NOT_FOUND', 'Challenge an unknown credential', ({ post }) =>
    post(`/auth/credentials/${unknownId('AuthMethod')}/challenge`),
  ),
  provocation('SESSION_NOT_FOUND', 'Revoke an unknown session', ({ call }) =>
    call('DELETE', `/auth/sessions/${unknownId('Session')}`),
  ),
  provocation(
    'RATE_LIMITED',
    'Challenge one credential more than sixty times in a minute',
    async (fixture) => {
      const { credential } = await fixture.wallets.createWalletCustomer();
      const path = `/auth/credentials/${credential.id}/challenge`;
      for (let index = 0; index < 60; index++) await fixture.post(path);
      return fixture.post(path);
    },
  ),
  provocation(
    'WALLET_NOT_PROVISIONED',
    'Add a credential to a wallet that PATCH /config has just requested, before it is ready',
    async ({ app, post, call }) => {
      const platform = await app.newPlatform('Late');
      const { body } = await call('GET', '/config', undefined, { platform });
      const allCurrencies = body.supportedCurrencies as { currencyCode: string }[];
      const setCurrencies = (supportedCurrencies: object[]) =>
        call('PATCH', '/config', { supportedCurrencies }, { platform });
      await setCurrencies(allCurrencies.filter((currency) => currency.currencyCode !== 'USDB'));
      const { id } = await createCustomer(app, { platform }, { email: newEmail() });
      await app.settle();
      await setCurrencies(allCurrencies);
      // Jobs run one after another. The first job creates the account, and the second activates it.
      await app.worker.runDue();
      const path = `/customers/internal-accounts?customerId=${id}&type=EMBEDDED_WALLET`;
      const { data } = (await call('GET', path, undefined, { platform })).body;
      return post('/auth/credentials', { type: 'SMS_OTP', accountId: data[0].id }, { platform });
    },
  ),
];

const SIGNATURES: readonly Provocation[] = [
  provocation(
    'WALLET_SIGNATURE_MISSING',
    'Send a `Request-Id` without a signature',
    async (fixture) => {
      const { session } = await createSignedInWallet(fixture);
      return fixture.call('DELETE', `/auth/sessions/${session.session.id}`, undefined, {
        headers: { 'request-id': unknownId('Request') },
      });
    },
  ),
  provocation('REQUEST_ID_MISSING', 'Send a signature without a `Request-Id`', async (fixture) => {
    const { session } = await createSignedInWallet(fixture);
    return fixture.call('DELETE', `/auth/sessions/${session.session.id}`, undefined, {
      headers: { 'service-wallet-signature': 'sandbox-valid-signature' },
    });
  }),
  provocation('WALLET_SIGNATURE_MALFORMED', 'Send a malformed stamp', async (fixture) => {
    const { session } = await createSignedInWallet(fixture);
    const path = `/auth/sessions/${session.session.id}`;
    const firstReply = ok(await fixture.app.call('DELETE', path), 202);
    const headers = { 'request-id': firstReply.requestId, 'service-wallet-signature': 'nonsense!' };
    return fixture.call('DELETE', path, undefined, { headers });
  }),
  provocation(
    'WALLET_SIGNATURE_BODY_MISMATCH',
    'Sign for one body and send another',
    async (fixture) => {
      const { accountId, session } = await createSignedInWallet(fixture);
      const path = `/internal-accounts/${accountId}`;
      const { second } = await fixture.wallets.signedRetry(
        'PATCH',
        path,
        { privateEnabled: true },
        session,
        { change: { privateEnabled: false } },
      );
      return second;
    },
  ),
  provocation(
    'WALLET_SIGNATURE_INVALID',
    'Sign with a key without a session of the wallet, in production. In the sandbox the code is ' +
      'UNAUTHORIZED',
    async ({ app }) => {
      const fixture = walletFixture(app, { platform: app.production });
      const { accountId } = await fixture.createWalletCustomer();
      const path = `/internal-accounts/${accountId}`;
      return fixture.callSigned('PATCH', path, { privateEnabled: true }, generateKeys());
    },
  ),
];

const CONTACTS: readonly Provocation[] = [
  provocation(
    'EMAIL_OTP_EMAIL_ALREADY_EXISTS',
    'Change a customer’s e-mail address to one that receives codes of another wallet',
    async (fixture) => {
      const [firstCustomer, secondCustomer] = [
        await createSignedInWallet(fixture),
        await createSignedInWallet(fixture),
      ];
      return fixture.call(
        'PATCH',
        `/customers/${firstCustomer.person.id}`,
        customerChange({ email: secondCustomer.person.email }),
      );
    },
  ),
  provocation(
    'SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS',
    'Change a customer’s telephone number to one that receives codes of another wallet',
    async (fixture) => {
      const [firstCustomer, secondCustomer] = [
        await createSmsWallet(fixture, newPhoneNumber()),
        await createSmsWallet(fixture, newPhoneNumber()),
      ];
      const { phoneNumber } = secondCustomer.person;
      return fixture.call(
        'PATCH',
        `/customers/${firstCustomer.person.id}`,
        customerChange({ phoneNumber }),
      );
    },
  ),
  provocation(
    'EMAIL_OTP_CREDENTIAL_SET_CHANGED',
    'Remove the EMAIL_OTP credential between the two requests that change the e-mail address',
    ({ wallets }) => changeRemovedContact(wallets, 'email'),
  ),
  provocation(
    'SMS_OTP_CREDENTIAL_SET_CHANGED',
    'Remove the SMS_OTP credential between the two requests that change the telephone number',
    ({ wallets }) => changeRemovedContact(wallets, 'sms'),
  ),
];

export const WALLETS: readonly Provocation[] = [...CREDENTIALS, ...SIGNATURES, ...CONTACTS];
