// Codes about the people and firms that a platform serves: customers, their papers, checks and invitations.
import {
  customer,
  externalAccount,
  internalAccount,
  ok,
  quoteBody,
} from '../../kit/app/fixtures.ts';
import { paperForm, pngFile } from '../../kit/http/documents.ts';
import { factorFixture } from '../../kit/sca/factors.ts';
import { loginFixture } from '../../kit/sca/login.ts';
import { logIn, provenCustomer } from '../../kit/sca/strong-customers.ts';
import { type CodeFixture, nobody, type Way, way } from './kit.ts';

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
    paperForm({ ...PASSPORT, documentHolder }, { bytes: pngFile(size, size), name }),
  );

/** The sandbox reads a verdict from the name of the file. */
const paper = (code: Way['code']): Way =>
  way(code, `Upload a document whose file is named \`scan-${code}.png\``, async (fixture) =>
    upload(fixture, (await customer(fixture.app)).id, `scan-${code}.png`),
  );

async function invitation({ app }: CodeFixture) {
  const { umaAddress } = await customer(app);
  return ok(await app.call('POST', '/invitations', { inviterUma: umaAddress }), 201);
}

const claim = ({ post }: CodeFixture, code: string) =>
  post(`/invitations/${code}/claim`, { inviteeUma: '$friend@elsewhere.example' });

const PAPERS = [
  'LOW_QUALITY',
  'DATA_MISMATCH',
  'EXPIRED',
  'SUSPECTED_FRAUD',
  'UNSUITABLE_DOCUMENT',
  'INCOMPLETE',
] as const;

const CUSTOMERS: readonly Way[] = [
  way('INVALID_INPUT', 'Leave out a required field', ({ post }) => post('/customers', {})),
  way('CUSTOMER_NOT_FOUND', 'Read a customer that does not exist', ({ call }) =>
    call('GET', `/customers/${nobody('Customer')}`),
  ),
  way('CUSTOMER_DELETED', 'Delete a customer and change it', async ({ app, call }) => {
    const { id } = await customer(app);
    await call('DELETE', `/customers/${id}`);
    return call('PATCH', `/customers/${id}`, { customerType: 'INDIVIDUAL', fullName: 'Ada King' });
  }),
  way('CONFLICT', 'Register two customers with one `platformCustomerId`', async ({ app, post }) => {
    const { platformCustomerId } = await customer(app);
    return post('/customers', { customerType: 'INDIVIDUAL', platformCustomerId, fullName: 'Eve' });
  }),
  way('UMA_ADDRESS_EXISTS', 'Register two customers with one `umaAddress`', async (fixture) => {
    const { umaAddress } = await customer(fixture.app);
    return fixture.post('/customers', { customerType: 'INDIVIDUAL', umaAddress, fullName: 'Eve' });
  }),
  way(
    'END_USER_TERMS_VERSION_NOT_FOUND',
    'Register a customer whose consent names a `termsVersion` that never was',
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
  way(
    'USER_NOT_READY',
    'Fund a customer whose name ends in 001, who is not approved',
    async (d) => {
      const person = await customer(d.app, {}, { fullName: 'Ada Lovelace 001' });
      const { id } = await internalAccount(d.app, person.id, 'USD');
      return d.post(`/sandbox/internal-accounts/${id}/fund`, { amount: 1 });
    },
  ),
  way('VERIFICATION_NOT_FOUND', 'Ask for a verification that is none', ({ call }) =>
    call('GET', `/verifications/${nobody('Verification')}`),
  ),
  way('BULK_UPLOAD_JOB_NOT_FOUND', 'Ask for an import that is none', ({ call }) =>
    call('GET', `/customers/bulk/jobs/${nobody('BulkCustomerImportJob')}`),
  ),
];

const DOCUMENTS: readonly Way[] = [
  ...PAPERS.map(paper),
  way('DOCUMENT_HOLDER_NOT_FOUND', 'Upload a document for an unknown holder', (fixture) =>
    upload(fixture, nobody('Customer')),
  ),
  way('DOCUMENT_ALREADY_EXISTS', 'Upload a second passport of one customer', async (fixture) => {
    const { id } = await customer(fixture.app);
    ok(await upload(fixture, id), 201);
    return upload(fixture, id);
  }),
];

const INVITATIONS: readonly Way[] = [
  way('INVITATION_NOT_FOUND', 'Ask for an invitation that is none', ({ call }) =>
    call('GET', '/invitations/00000000'),
  ),
  way('INVITATION_ALREADY_CLAIMED', 'Claim an invitation twice', async (fixture) => {
    const { code } = await invitation(fixture);
    await claim(fixture, code);
    return claim(fixture, code);
  }),
  way('INVITATION_CANCELLED', 'Claim an invitation that was cancelled', async (fixture) => {
    const { code } = await invitation(fixture);
    await fixture.post(`/invitations/${code}/cancel`);
    return claim(fixture, code);
  }),
  way(
    'INVITATIONS_NOT_CONFIGURED',
    'Invite on a platform whose operator switched it off: ' +
      '`railhead-server platform set PLATFORM --no-invitations`',
    async ({ app, post, operator }) => {
      const as = await app.newPlatform('Closed');
      const { umaAddress } = await customer(app, { as });
      const ran = await operator(['platform', 'set', as.id, '--no-invitations']);
      if (ran.code !== 0) throw new Error(ran.err);
      return post('/invitations', { inviterUma: umaAddress }, { as });
    },
  ),
];

const STRONG: readonly Way[] = [
  way('SCA_SESSION_REQUIRED', 'Pay euros for a European who has not logged in', async (fixture) => {
    const { app, post } = fixture;
    const person = await provenCustomer(app);
    const euros = await internalAccount(app, person.id, 'EUR');
    await post(`/sandbox/internal-accounts/${euros.id}/fund`, { amount: 100_00 });
    const target = await externalAccount(app, person.id, 'EUR');
    await post(`/customers/external-accounts/${target.id}/trust`);
    await post(`/customers/external-accounts/${target.id}/trust/confirm`, { code: '123456' });
    const quote = await post('/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: euros.id },
      destination: { destinationType: 'ACCOUNT', accountId: target.id },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 10_00,
    });
    return post(`/quotes/${quote.body.id}/execute`);
  }),
  way(
    'BENEFICIARY_TRUSTED',
    'Delete an account that its customer trusts',
    async ({ app, ...d }) => {
      const person = await provenCustomer(app);
      await logIn(app, person.id);
      const { id } = await externalAccount(app, person.id, 'EUR');
      await d.post(`/customers/external-accounts/${id}/trust`);
      await d.post(`/customers/external-accounts/${id}/trust/confirm`, { code: '123456' });
      return d.call('DELETE', `/customers/external-accounts/${id}`);
    },
  ),
  way('PASSKEY_ALREADY_ENROLLED', 'Enrol a second passkey of one customer', async ({ app }) => {
    const { id } = await provenCustomer(app);
    const factors = factorFixture(app);
    await factors.withPasskey(id);
    return factors.start(id, 'PASSKEY');
  }),
  way('ACCOUNT_LOCKED', 'Record six failed logins', async ({ app }) => {
    const { id } = await provenCustomer(app);
    const login = loginFixture(app);
    for (let tries = 0; tries < 5; tries++) await login.fail(id);
    return login.fail(id);
  }),
];

const TERMS: readonly Way[] = [
  way(
    'END_USER_TERMS_NOT_ACCEPTED',
    'Pay for a customer without consent where the operator asks for it: ' +
      '`railhead-server platform set PLATFORM --terms`',
    async ({ app, post, operator }) => {
      const as = await app.newPlatform('Gated', { regulated: false });
      const person = await customer(app, { as });
      const account = await internalAccount(app, person.id, 'USD', { as });
      const target = await externalAccount(app, person.id, 'USD', '000', { as });
      const ran = await operator(['platform', 'set', as.id, '--terms']);
      if (ran.code !== 0) throw new Error(ran.err);
      return post('/quotes', quoteBody(account.id, target.id, 1_00), { as });
    },
  ),
];

const ODD: readonly Way[] = [
  way('LINK_ENDED', 'Open the state of a verification page whose link is none', async ({ app }) => {
    const reply = await app.server.inject({ method: 'GET', url: '/verify/nobody/state' });
    return { status: reply.statusCode, body: reply.json() };
  }),
  way(
    'INTERNAL_ERROR',
    'Never by a request alone: it is a fault of ours, or a broken database',
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

export const PEOPLE: readonly Way[] = [
  ...CUSTOMERS,
  ...DOCUMENTS,
  ...INVITATIONS,
  ...STRONG,
  ...TERMS,
  ...ODD,
];
