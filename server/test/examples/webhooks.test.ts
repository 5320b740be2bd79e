// Examples of the webhooks that the other examples do not emit: decisions about customers, a failed
// import, changes of internal accounts, and refunds. A platform can repeat all of them in the
// sandbox, except the account details of a provider, which an operator connects.
import { describe, expect } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { documentForm, pdfFile } from '../kit/http/documents.ts';
import {
  balanceOf,
  createGermanAccount,
  createPerson,
  createUsAccount,
  NORTHWIND,
  OWNER_OF_NORTHWIND,
} from '../kit/http/example-people.ts';
import { type ExampleRecorder, examples } from '../kit/http/examples.ts';
import { operatorClient } from '../kit/operator/client.ts';
import { addProvider, startAdapter } from '../kit/providers/adapter.ts';

const MINUTE_MS = 60_000;

/** The suffix of a name or registration number selects the result of the identity check. */
const REVIEWED_SUFFIX = '001';
const REJECTED_SUFFIX = '002';
/** The suffix of an account number for which a refund fails. */
const NOT_REFUNDABLE_SUFFIX = '007';

async function recordIndividuals(recorder: ExampleRecorder) {
  for (const suffix of [REVIEWED_SUFFIX, REJECTED_SUFFIX]) {
    const fullName = `Noah Lindqvist ${suffix}`;
    await createPerson(recorder, { fullName, email: 'noah.lindqvist@example.com' });
  }
  await recorder.app.settle();
}

const BUSINESS_DOCUMENTS = [
  'CERTIFICATE_OF_INCORPORATION',
  'DIRECTOR_REGISTRY',
  'SHAREHOLDER_REGISTER',
  'UTILITY_BILL',
];

async function uploadDocument({ app }: ExampleRecorder, holder: string, documentType: string) {
  const fields = {
    ...{ documentHolder: holder, documentType, country: 'US' },
    ...{ documentNumber: '604112358', issuingAuthority: 'Department of State' },
  };
  ok(await app.call('POST', '/documents', documentForm(fields, { bytes: pdfFile() })), 201);
}

interface Business {
  platformCustomerId: string;
  legalName: string;
  registrationNumber: string;
  sourceOfFunds: string;
  businessType?: string;
}

/**
 * Registers a business with its owner, and submits it. In the sandbox of a regulated platform only a
 * business in review requires documents.
 */
async function submitBusiness(recorder: ExampleRecorder, business: Business) {
  const { app } = recorder;
  const { platformCustomerId, ...info } = business;
  const businessInfo = { ...NORTHWIND.businessInfo, ...info };
  const body = { ...NORTHWIND, platformCustomerId, businessInfo };
  const { id: customerId } = ok(await app.call('POST', '/customers', body), 201);
  const owner = { customerId, ...OWNER_OF_NORTHWIND };
  const { id: ownerId } = ok(await app.call('POST', '/beneficial-owners', owner), 201);
  if (business.registrationNumber.endsWith(REVIEWED_SUFFIX)) {
    await uploadDocument(recorder, ownerId, 'PASSPORT');
    for (const documentType of BUSINESS_DOCUMENTS)
      await uploadDocument(recorder, customerId, documentType);
  }
  ok(await app.call('POST', '/verifications', { customerId }), 200);
  await app.settle();
}

async function recordBusinesses(recorder: ExampleRecorder) {
  await submitBusiness(recorder, {
    platformCustomerId: 'business-2001',
    legalName: 'Northwind Coffee Roasters LLC',
    registrationNumber: 'WA-604112358',
    sourceOfFunds: 'Sales of coffee',
  });
  await submitBusiness(recorder, {
    platformCustomerId: 'business-2002',
    legalName: 'Eastfield Tea Importers LLC',
    registrationNumber: `WA-604275${REVIEWED_SUFFIX}`,
    sourceOfFunds: 'Sales of tea',
    businessType: 'WHOLESALE_TRADE',
  });
  await submitBusiness(recorder, {
    platformCustomerId: 'business-2003',
    legalName: 'Southgate Bakeries LLC',
    registrationNumber: `WA-604398${REJECTED_SUFFIX}`,
    sourceOfFunds: 'Sales of bread',
  });
}

const COLUMNS =
  'umaAddress,platformCustomerId,customerType,fullName,birthDate,' +
  'addressLine1,city,state,postalCode,country';
/** Both rows are rejected, because their dates are not in the format YYYY-MM-DD. */
const csvOf = (domain: string) => `${COLUMNS}
hedy@${domain},customer-3001,INDIVIDUAL,Hedy Larsson,11/09/1990,1 Main St,Austin,TX,78701,US
rosa@${domain},customer-3002,INDIVIDUAL,Rosa Ferrari,07/25/1990,9 Elm St,Austin,TX,78702,US
`;

async function recordImport({ app }: ExampleRecorder) {
  const { umaDomain } = ok(await app.call('GET', '/config'), 200);
  const file = { bytes: Buffer.from(csvOf(umaDomain)), name: 'customers.csv', type: 'text/csv' };
  ok(await app.call('POST', '/customers/bulk/csv', documentForm({}, file)), 202);
  await app.advance(MINUTE_MS);
}

/** A customer with 1,000.00 USD, and the account that holds it. */
async function createPayer(recorder: ExampleRecorder) {
  const customer = await createPerson(recorder);
  const account = await balanceOf(recorder, customer.id, 'USD');
  const path = `/sandbox/internal-accounts/${account.id}/fund`;
  ok(await recorder.app.call('POST', path, { amount: 1_000_00 }), 200);
  return { customer, account };
}

async function recordFreeze(recorder: ExampleRecorder) {
  const { account } = await createPayer(recorder);
  const body = { resourceId: account.id, status: 'FROZEN', reason: 'Court order' };
  ok(await recorder.app.call('POST', '/sandbox/status', body), 200);
  await recorder.app.settle();
}

async function createQuote({ app }: ExampleRecorder, from: string, to: string) {
  const body = {
    source: { sourceType: 'ACCOUNT', accountId: from },
    destination: { destinationType: 'ACCOUNT', accountId: to },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 250_00,
    description: 'Invoice 2026-014',
  };
  return ok(await app.call('POST', '/quotes', body), 201);
}

/** A quote that expires, and a payout that fails and cannot be refunded. */
async function recordPayouts(recorder: ExampleRecorder) {
  const { app } = recorder;
  const { customer, account } = await createPayer(recorder);
  const germanAccount = await createGermanAccount(recorder, customer.id);
  await createQuote(recorder, account.id, germanAccount.id);
  await app.advance(6 * MINUTE_MS);
  const accountNumber = `000123456${NOT_REFUNDABLE_SUFFIX}`;
  const usAccount = await createUsAccount(recorder, customer.id, accountNumber);
  const quote = await createQuote(recorder, account.id, usAccount.id);
  ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
  await app.advance(MINUTE_MS);
}

/** Deposits that are held and then rejected. The second deposit cannot be returned to its payer. */
async function recordDeposits(recorder: ExampleRecorder) {
  const { app } = recorder;
  const customer = await createPerson(recorder);
  const account = await balanceOf(recorder, customer.id, 'USD');
  for (const suffix of ['789', NOT_REFUNDABLE_SUFFIX]) {
    const deposit = {
      amount: 400_00,
      payerAccountIdentifier: `000987654${suffix}`,
      pendingReason: 'COMPLIANCE_REVIEW',
    };
    ok(await app.call('POST', `/sandbox/internal-accounts/${account.id}/fund`, deposit), 200);
    const path = `/transactions?customerId=${customer.id}&status=PENDING`;
    const { data } = ok(await app.call('GET', path), 200);
    const body = { resourceId: data[0].id, status: 'FAILED' };
    await app.advance(MINUTE_MS);
    ok(await app.call('POST', '/sandbox/status', body), 200);
    await app.advance(MINUTE_MS);
  }
}

/** A provider that opens a bank account for each new account in EUR. */
async function recordProviderDetails(recorder: ExampleRecorder) {
  const { app } = recorder;
  const operator = operatorClient(app);
  const write = async (method: string, path: string, body?: object) => {
    const reply = await operator.call(method, path, { body });
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
    return reply.body;
  };
  const adapter = await startAdapter(app);
  adapter.replies['/capabilities'] = () => ({
    body: { protocol: '1', services: ['funding'], fundingCurrencies: ['EUR'] },
  });
  const accountOrWalletInfo = {
    accountType: 'EUR_ACCOUNT',
    iban: 'DE02120300000000202051',
    bankName: 'Acme Bank',
    accountHolderName: 'Amara Okafor',
    paymentRails: ['SEPA', 'SEPA_INSTANT'],
    reference: 'NW-2026-0117',
  };
  adapter.replies['/funding/account'] = () => ({
    body: { instructions: [{ accountOrWalletInfo, isPlatformAccount: false }] },
  });
  try {
    await addProvider(write, adapter, 'acme-bank', 'sandbox');
    await write('POST', '/providers/acme-bank/check');
    const route = { providerId: 'acme-bank', environment: 'sandbox', priority: 1, kind: 'funding' };
    await write('POST', '/provider-routes', route);
    await createPerson(recorder);
    await app.settle();
  } finally {
    await adapter.close();
  }
}

describe('examples of webhooks', () => {
  examples(
    'webhooks',
    {
      recordIndividuals,
      recordBusinesses,
      recordImport,
      recordFreeze,
      recordPayouts,
      recordDeposits,
      recordProviderDetails,
    },
    {
      webhookTypes: [
        'BULK_UPLOAD.FAILED',
        'CUSTOMER.KYB_APPROVED',
        'CUSTOMER.KYB_PENDING',
        'CUSTOMER.KYB_REJECTED',
        'CUSTOMER.KYC_PENDING',
        'CUSTOMER.KYC_REJECTED',
        'INCOMING_PAYMENT.REFUND_COMPLETED',
        'INCOMING_PAYMENT.REFUND_FAILED',
        'INCOMING_PAYMENT.REFUND_PENDING',
        'INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED',
        'INTERNAL_ACCOUNT.STATUS_UPDATED',
        'OUTGOING_PAYMENT.EXPIRED',
        'OUTGOING_PAYMENT.REFUND_FAILED',
        'VERIFICATION.APPROVED',
        'VERIFICATION.PENDING_MANUAL_REVIEW',
        'VERIFICATION.REJECTED',
      ],
    },
  );
});
