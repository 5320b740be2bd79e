// Error codes of customers, their documents, verifications and invitations.
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../kit/app/fixtures.ts';
import { documentForm, pngFile } from '../../kit/http/documents.ts';
import { factorFixture } from '../../kit/sca/factors.ts';
import { loginFixture } from '../../kit/sca/login.ts';
import { createPhoneVerifiedCustomer, logIn } from '../../kit/sca/strong-customers.ts';
import { type CodeFixture, type Provocation, provocation, unknownId } from './kit.ts';

const PASSPORT = {
  documentType: 'PASSPORT',
  country: 'DE',
  documentNumber: 'C01X00T47',
  issuingAuthority: 'Berlin',
};

const upload = ({ app }: CodeFixture, documentHolder: string, name = 'scan.png', size = 600) =>
  app.call(
    'POST',
    '/documents',
    documentForm({ ...PASSPORT, documentHolder }, { bytes: pngFile(size, size), name }),
  );

/** The sandbox derives the result from the file name. */
const rejectedDocument = (code: Provocation['code']): Provocation =>
  provocation(code, `Upload a document whose file is named \`scan-${code}.png\``, async (fixture) =>
    upload(fixture, (await createCustomer(fixture.app)).id, `scan-${code}.png`),
  );

async function createInvitation({ app }: CodeFixture) {
  const { umaAddress } = await createCustomer(app);
  return ok(await app.call('POST', '/invitations', { inviterUma: umaAddress }), 201);
}

const claim = ({ post }: CodeFixture, code: string) =>
  post(`/invitations/${code}/claim`, { inviteeUma: '$friend@elsewhere.example' });

const DOCUMENT_REJECTIONS = [
  'LOW_QUALITY',
  'DATA_MISMATCH',
  'EXPIRED',
  'SUSPECTED_FRAUD',
  'UNSUITABLE_DOCUMENT',
  'INCOMPLETE',
] as const;

const CUSTOMERS: readonly Provocation[] = [
  provocation('INVALID_INPUT', 'Omit a required field', ({ post }) => post('/customers', {})),
  provocation('CUSTOMER_NOT_FOUND', 'Read a customer that does not exist', ({ call }) =>
    call('GET', `/customers/${unknownId('Customer')}`),
  ),
  provocation('CUSTOMER_DELETED', 'Update a deleted customer', async ({ app, call }) => {
    const { id } = await createCustomer(app);
    await call('DELETE', `/customers/${id}`);
    return call('PATCH', `/customers/${id}`, { customerType: 'INDIVIDUAL', fullName: 'Ada King' });
  }),
  provocation(
    'CONFLICT',
    'Register two customers with one `platformCustomerId`',
    async ({ app, post }) => {
      const { platformCustomerId } = await createCustomer(app);
      return post('/customers', {
        customerType: 'INDIVIDUAL',
        platformCustomerId,
        fullName: 'Eve',
      });
    },
  ),
  provocation(
    'UMA_ADDRESS_EXISTS',
    'Register two customers with one `umaAddress`',
    async (fixture) => {
      const { umaAddress } = await createCustomer(fixture.app);
      return fixture.post('/customers', {
        customerType: 'INDIVIDUAL',
        umaAddress,
        fullName: 'Eve',
      });
    },
  ),
  provocation(
    'END_USER_TERMS_VERSION_NOT_FOUND',
    'Register a customer with consent to an unknown `termsVersion`',
    ({ post }) =>
      post('/customers', {
        customerType: 'INDIVIDUAL',
        fullName: 'Ada Lovelace',
        endUserTermsConsent: {
          acceptedAt: '2026-01-05T08:00:00Z',
          ipAddress: '203.0.113.7',
          termsVersion: 'V7',
          acceptanceMethod: 'CLICK_TO_ACCEPT',
        },
      }),
  ),
  provocation(
    'USER_NOT_READY',
    'Fund a customer who is not approved: the name ends in 001',
    async (fixture) => {
      const person = await createCustomer(fixture.app, {}, { fullName: 'Ada Lovelace 001' });
      const { id } = await findInternalAccount(fixture.app, person.id, 'USD');
      return fixture.post(`/sandbox/internal-accounts/${id}/fund`, { amount: 1 });
    },
  ),
  provocation('VERIFICATION_NOT_FOUND', 'Get an unknown verification', ({ call }) =>
    call('GET', `/verifications/${unknownId('Verification')}`),
  ),
  provocation('BULK_UPLOAD_JOB_NOT_FOUND', 'Get an unknown import', ({ call }) =>
    call('GET', `/customers/bulk/jobs/${unknownId('BulkCustomerImportJob')}`),
  ),
];

const DOCUMENTS: readonly Provocation[] = [
  ...DOCUMENT_REJECTIONS.map(rejectedDocument),
  provocation('DOCUMENT_HOLDER_NOT_FOUND', 'Upload a document for an unknown holder', (fixture) =>
    upload(fixture, unknownId('Customer')),
  ),
  provocation(
    'DOCUMENT_ALREADY_EXISTS',
    'Upload a second passport for a customer',
    async (fixture) => {
      const { id } = await createCustomer(fixture.app);
      ok(await upload(fixture, id), 201);
      return upload(fixture, id);
    },
  ),
];

const INVITATIONS: readonly Provocation[] = [
  provocation('INVITATION_NOT_FOUND', 'Get an unknown invitation', ({ call }) =>
    call('GET', '/invitations/00000000'),
  ),
  provocation('INVITATION_ALREADY_CLAIMED', 'Claim an invitation twice', async (fixture) => {
    const { code } = await createInvitation(fixture);
    await claim(fixture, code);
    return claim(fixture, code);
  }),
  provocation('INVITATION_CANCELLED', 'Claim an invitation that was canceled', async (fixture) => {
    const { code } = await createInvitation(fixture);
    await fixture.post(`/invitations/${code}/cancel`);
    return claim(fixture, code);
  }),
  provocation(
    'INVITATIONS_NOT_CONFIGURED',
    'Create an invitation on a platform where the operator has disabled them: ' +
      '`railhead-server platform set PLATFORM --no-invitations`',
    async ({ app, post, runCommand }) => {
      const platform = await app.newPlatform('Closed');
      const { umaAddress } = await createCustomer(app, { platform });
      const result = await runCommand(['platform', 'set', platform.id, '--no-invitations']);
      if (result.code !== 0) throw new Error(result.err);
      return post('/invitations', { inviterUma: umaAddress }, { platform });
    },
  ),
];

const STRONG_AUTHENTICATION: readonly Provocation[] = [
  provocation(
    'SCA_SESSION_REQUIRED',
    'Pay euros for a European customer without a login session',
    async (fixture) => {
      const { app, post } = fixture;
      const person = await createPhoneVerifiedCustomer(app);
      const euroAccount = await findInternalAccount(app, person.id, 'EUR');
      await post(`/sandbox/internal-accounts/${euroAccount.id}/fund`, { amount: 100_00 });
      const target = await createExternalAccount(app, person.id, 'EUR');
      await post(`/customers/external-accounts/${target.id}/trust`);
      await post(`/customers/external-accounts/${target.id}/trust/confirm`, { code: '123456' });
      const quote = await post('/quotes', {
        source: { sourceType: 'ACCOUNT', accountId: euroAccount.id },
        destination: { destinationType: 'ACCOUNT', accountId: target.id },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: 10_00,
      });
      return post(`/quotes/${quote.body.id}/execute`);
    },
  ),
  provocation(
    'BENEFICIARY_TRUSTED',
    'Delete an account that its customer trusts',
    async ({ app, ...fixture }) => {
      const person = await createPhoneVerifiedCustomer(app);
      await logIn(app, person.id);
      const { id } = await createExternalAccount(app, person.id, 'EUR');
      await fixture.post(`/customers/external-accounts/${id}/trust`);
      await fixture.post(`/customers/external-accounts/${id}/trust/confirm`, { code: '123456' });
      return fixture.call('DELETE', `/customers/external-accounts/${id}`);
    },
  ),
  provocation(
    'PASSKEY_ALREADY_ENROLLED',
    'Enroll a second passkey for a customer',
    async ({ app }) => {
      const { id } = await createPhoneVerifiedCustomer(app);
      const factors = factorFixture(app);
      await factors.enrollPasskey(id);
      return factors.startEnrollment(id, 'PASSKEY');
    },
  ),
  provocation('ACCOUNT_LOCKED', 'Record six failed logins', async ({ app }) => {
    const { id } = await createPhoneVerifiedCustomer(app);
    const login = loginFixture(app);
    for (let attempts = 0; attempts < 5; attempts++) await login.fail(id);
    return login.fail(id);
  }),
];

const TERMS: readonly Provocation[] = [
  provocation(
    'END_USER_TERMS_NOT_ACCEPTED',
    'Pay for a customer without consent where the operator requires it: ' +
      '`railhead-server platform set PLATFORM --terms`',
    async ({ app, post, runCommand }) => {
      const platform = await app.newPlatform('With terms', { regulated: false });
      const person = await createCustomer(app, { platform });
      const account = await findInternalAccount(app, person.id, 'USD', { platform });
      const target = await createExternalAccount(app, person.id, 'USD', '000', { platform });
      const result = await runCommand(['platform', 'set', platform.id, '--terms']);
      if (result.code !== 0) throw new Error(result.err);
      return post('/quotes', quoteBody(account.id, target.id, 1_00), { platform });
    },
  ),
];

const OTHER_CODES: readonly Provocation[] = [
  provocation(
    'LINK_ENDED',
    'Get the state of a verification page with an unknown link',
    async ({ app }) => {
      const reply = await app.server.inject({ method: 'GET', url: '/verify/unknown/state' });
      return { status: reply.statusCode, body: reply.json() };
    },
  ),
  provocation(
    'INTERNAL_ERROR',
    'Not possible, because the code reports an error of the server or a damaged database',
    async ({ app, call }) => {
      const rename = (from: string, to: string) =>
        app.runtime.db.query(`alter table ${from} rename to ${to}`, []);
      await rename('invitations', 'invitations_away');
      try {
        return await call('GET', '/invitations/00000000');
      } finally {
        await rename('invitations_away', 'invitations');
      }
    },
  ),
];

export const PEOPLE: readonly Provocation[] = [
  ...CUSTOMERS,
  ...DOCUMENTS,
  ...INVITATIONS,
  ...STRONG_AUTHENTICATION,
  ...TERMS,
  ...OTHER_CODES,
];
