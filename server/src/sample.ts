// A sample customer for the platform of a first start: with it, the main examples of the API
// reference can be sent as shown. It is created through the API, like any customer.
import type { FastifyInstance } from 'fastify';
import { findInternalAccounts } from './features/balances/internal-accounts/index.ts';
import { findCustomers } from './features/customers/records/index.ts';
import { findExternalAccounts } from './features/payees/external-accounts/index.ts';
import { oldestPlatform } from './features/tenancy/platform/index.ts';
import type { Examples } from './http/examples.ts';
import { BASE_PATH } from './http/route.ts';
import type { Database } from './runtime/db/database.ts';

/** The platform's own id of the sample customer. */
const SAMPLE = 'sample-customer';

const CUSTOMER = {
  customerType: 'INDIVIDUAL',
  platformCustomerId: SAMPLE,
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

const PAYEE = {
  currency: 'EUR',
  accountInfo: {
    accountType: 'EUR_ACCOUNT',
    iban: 'DE89370400440532013000',
    beneficiary: {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'Lukas Weber',
      countryOfResidence: 'DE',
    },
  },
};

const DEPOSIT = 5_000_00;

/** Creates the sample customer with 5,000.00 USD and a payee in Germany. */
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
    if (reply.statusCode >= 400) throw new Error(`sample customer: ${reply.body}`);
    return reply.json();
  };
  const { id: customerId } = await call('POST', '/customers', CUSTOMER);
  await call('POST', '/customers/external-accounts', { customerId, ...PAYEE });
  const query = `customerId=${customerId}&currency=USD`;
  const { data } = await call('GET', `/customers/internal-accounts?${query}`);
  await call('POST', `/sandbox/internal-accounts/${data[0].id}/fund`, { amount: DEPOSIT });
}

/** Its ids in the order customer, USD account, payee; undefined without a sample. */
async function idsOfSample(db: Database): Promise<readonly string[] | undefined> {
  const platform = await oldestPlatform(db);
  if (!platform) return undefined;
  const where = { platform_id: platform.id, platform_customer_id: SAMPLE };
  const [customer] = await findCustomers(db, where);
  if (!customer) return undefined;
  const customer_id = customer.id;
  const [balance] = await findInternalAccounts(db, { customer_id, currency: 'USD' });
  const [payee] = await findExternalAccounts(db, { customer_id, currency: 'EUR' });
  return balance && payee ? [customer.id, balance.id, payee.id] : undefined;
}

/** The same ids in the examples. */
function idsOfExamples({ exchanges }: Examples): readonly string[] {
  const named = (operationId: string, name: string) =>
    exchanges.find((each) => each.operationId === operationId && each.name === name);
  const customer = named('listTransactions', 'of-a-customer')?.parameters?.customerId ?? '';
  const quote = named('createQuote', 'balance-to-bank')?.request as
    | { source: { accountId: string }; destination: { accountId: string } }
    | undefined;
  return [customer, quote?.source.accountId ?? '', quote?.destination.accountId ?? ''];
}

/** A document with the examples, with the sample customer's ids if this server has one. */
export async function withSample(db: Database, examples: Examples, document: string) {
  const ids = await idsOfSample(db);
  if (!ids) return document;
  return idsOfExamples(examples).reduce(
    (text, example, at) => (example ? text.replaceAll(example, ids[at] ?? example) : text),
    document,
  );
}
