// A sample customer for the platform of a first start, so that requests of the API reference
// succeed unchanged. The customer is created through the API. The IDs of its resources replace
// those in the examples (ids.ts).
import type { FastifyInstance } from 'fastify';
import { BASE_PATH } from '../http/route.ts';

/** The platform's own ID of the sample customer. */
export const SAMPLE = 'sample-customer';

/** The person of the sample. The recorded examples have the same person. */
export const SAMPLE_PERSON = {
  customerType: 'INDIVIDUAL',
  fullName: 'Amara Okafor',
  birthDate: '1991-04-23',
  nationality: 'US',
  email: 'amara.okafor@example.com',
  address: {
    line1: '48 Willow Street',
    city: 'Portland',
    state: 'OR',
    postalCode: '97205',
    country: 'US',
  },
};

const CUSTOMER = { ...SAMPLE_PERSON, platformCustomerId: SAMPLE };

/** External accounts of the customer: payees in Germany and Mexico, its own bank and its own wallet. */
const ACCOUNTS = [
  {
    currency: 'EUR',
    accountInfo: {
      accountType: 'EUR_ACCOUNT',
      iban: 'DE34370400440987654321',
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        fullName: 'Lukas Weber',
        countryOfResidence: 'DE',
      },
    },
  },
  {
    currency: 'MXN',
    accountInfo: {
      accountType: 'MXN_ACCOUNT',
      clabeNumber: '012180002456789014',
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        fullName: 'Octavio Reyes',
        countryOfResidence: 'MX',
      },
    },
  },
  {
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: '000123456789',
      routingNumber: '021000021',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Amara Okafor' },
    },
  },
  {
    currency: 'USDC',
    accountInfo: {
      accountType: 'SOLANA_WALLET',
      address: '3KCbz2UJ1xqxkBP7vjcA2eGV3pccNQhn9yKtMnUovvGi',
    },
  },
];

/** A bank account of the platform itself. */
const OWN_BANK = {
  currency: 'USD',
  accountInfo: {
    accountType: 'USD_ACCOUNT',
    accountNumber: '000987654321',
    routingNumber: '021000021',
    beneficiary: { beneficiaryType: 'BUSINESS', legalName: 'Northwind Payments Inc.' },
  },
};

const DEPOSIT_CENTS = 5_000_00;

const AGENT = {
  name: 'Bookkeeping',
  policy: {
    permissions: ['VIEW_TRANSACTIONS'],
    defaultExecutionMode: 'AUTO',
    spendingLimits: { currency: 'USD', perTransactionLimit: 500_00 },
    approvalThresholds: { currency: 'USD', amount: 100_00 },
  },
};

/** Creates the sample customer with 5,000.00 USD, external accounts, a card and an agent. */
export async function createSample(
  server: FastifyInstance,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
): Promise<void> {
  const credential = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const reply = await server.inject({
      method,
      url: `${BASE_PATH}${path}`,
      headers: { authorization: `Basic ${credential}` },
      ...(body ? { payload: body } : {}),
    });
    if (reply.statusCode >= 400)
      throw new Error(`the sample customer could not be created: ${reply.body}`);
    return reply.json();
  };
  const { id: customerId } = await call('POST', '/customers', CUSTOMER);
  for (const account of ACCOUNTS) {
    await call('POST', '/customers/external-accounts', { customerId, ...account });
  }
  const query = `customerId=${customerId}&currency=USD`;
  const { data } = await call('GET', `/customers/internal-accounts?${query}`);
  const internalAccountId = data[0].id as string;
  await call('POST', `/sandbox/internal-accounts/${internalAccountId}/fund`, {
    amount: DEPOSIT_CENTS,
  });
  const card = { cardholderId: customerId, form: 'VIRTUAL', fundingSources: [internalAccountId] };
  await Promise.all([
    call('POST', '/cards', card),
    call('POST', '/agents', { customerId, ...AGENT }),
    call('POST', '/platform/external-accounts', OWN_BANK),
  ]);
}
