// The calls that the page may use, and the API call for each. All other calls are rejected. Every
// call is restricted to the wallet of the visit, independent of the parameters of the page.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_TIMEOUT_MS = 10_000;
const TEST_FUNDS = 100_000_000;

export const rejection = (status, code, reason) => ({ status, body: { code, reason } });

/** Calls the API as the platform. Throws error replies. */
export function client({ baseUrl, clientId, clientSecret }) {
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
  return async function call(method, path, body, headers = {}) {
    const reply = await fetch(baseUrl + path, {
      method,
      headers: {
        ...headers,
        authorization,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body && JSON.stringify(body),
    });
    const text = await reply.text();
    const response = {
      status: reply.status,
      body: text ? JSON.parse(text) : undefined,
      retryAfter: reply.headers.get('retry-after'),
    };
    if (!reply.ok) throw response;
    return response;
  };
}

/** Creates a customer for every new address. A real platform has its own sign-up. */
async function customerOf(call, email) {
  const platformCustomerId = `wallet-web-${createHash('sha256').update(email).digest('hex')}`;
  const search = await call('GET', `/customers?platformCustomerId=${platformCustomerId}`);
  if (search.body.data.length) return search.body.data[0];
  const createdCustomer = await call('POST', '/customers', {
    customerType: 'INDIVIDUAL',
    platformCustomerId,
    email,
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  });
  return createdCustomer.body;
}

/** The wallet of a new customer and its first credential are provisioned asynchronously. */
async function walletOf(call, customerId) {
  const path = `/customers/internal-accounts?customerId=${customerId}&type=EMBEDDED_WALLET`;
  for (const deadline = Date.now() + READY_TIMEOUT_MS; Date.now() < deadline; await sleep(200)) {
    const [account] = (await call('GET', path)).body.data;
    if (account?.status === 'ACTIVE') return account.id;
  }
  throw rejection(503, 'SERVICE_UNAVAILABLE', 'The wallet is not ready yet. Please try again.');
}

/** Finds the wallet of an e-mail address for the sign-in of a visit. */
export async function openVisit(call, email) {
  const { id: customerId } = await customerOf(call, email);
  const accountId = await walletOf(call, customerId);
  const credentials = await call('GET', `/auth/credentials?accountId=${accountId}`);
  return { visit: { customerId, accountId, quotes: new Set() }, credentials };
}

/** All payouts of this example go to one payee. */
async function payeeOf(call, customerId) {
  const path = '/customers/external-accounts';
  const [payee] = (await call('GET', `${path}?customerId=${customerId}`)).body.data;
  if (payee) return payee.id;
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
  const accountInfo = {
    accountType: 'EUR_ACCOUNT',
    iban: 'DE89370400440532013000',
    beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
  };
  return (await call('POST', path, { customerId, currency: 'EUR', accountInfo })).body.id;
}

const listOf = (call, visit, collection) =>
  call('GET', `/auth/${collection}?accountId=${visit.accountId}`);

/** Throws if a credential or session does not belong to the wallet of the visit. */
async function requireOwn(call, visit, collection, id) {
  const { body } = await listOf(call, visit, collection);
  if (!body.data.some((entry) => entry.id === id))
    throw rejection(404, 'NOT_FOUND', 'No credential or session of this wallet has this ID.');
}

/** Calls that are available before sign-in. */
const openRoutes = (call) => ({
  'POST credentials/{id}/challenge': async ({ visit, id, body }) => {
    await requireOwn(call, visit, 'credentials', id);
    return call('POST', `/auth/credentials/${id}/challenge`, body);
  },
  'POST credentials/{id}/verify': async ({ visit, id, body, headers }) => {
    await requireOwn(call, visit, 'credentials', id);
    const response = await call('POST', `/auth/credentials/${id}/verify`, body, headers);
    if (response.body.id?.startsWith('Session:')) visit.sessionId = response.body.id;
    return response;
  },
});

const walletRoutes = (call) => ({
  'GET account': ({ visit }) => call('GET', `/internal-accounts/${visit.accountId}`),
  'GET credentials': ({ visit }) => listOf(call, visit, 'credentials'),
  'POST credentials': ({ visit, body: { nickname, challenge, attestation }, headers }) => {
    const { accountId } = visit;
    const newCredential = { type: 'PASSKEY', accountId, nickname, challenge, attestation };
    return call('POST', '/auth/credentials', newCredential, headers);
  },
  'GET sessions': ({ visit }) => listOf(call, visit, 'sessions'),
  'DELETE sessions/{id}': async ({ visit, id, headers }) => {
    await requireOwn(call, visit, 'sessions', id);
    return call('DELETE', `/auth/sessions/${id}`, undefined, headers);
  },
  'POST export': ({ visit, body: { clientPublicKey }, headers }) =>
    call('POST', `/internal-accounts/${visit.accountId}/export`, { clientPublicKey }, headers),
});

const paymentRoutes = (call) => ({
  'POST quotes': async ({ visit, body: { amount } }) => {
    const response = await call('POST', '/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: visit.accountId },
      destination: {
        destinationType: 'ACCOUNT',
        accountId: await payeeOf(call, visit.customerId),
      },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: amount,
    });
    visit.quotes.add(response.body.id);
    return response;
  },
  'GET quotes/{id}': ({ visit, id }) => call('GET', `/quotes/${ownQuote(visit, id)}`),
  'POST quotes/{id}/execute': ({ visit, id, headers }) =>
    call('POST', `/quotes/${ownQuote(visit, id)}/execute`, undefined, headers),
});

function ownQuote({ quotes }, id) {
  if (!quotes.has(id))
    throw rejection(404, 'NOT_FOUND', 'The quote was not found. Create a new quote.');
  return id;
}

const sandboxRoutes = (call) => ({
  'POST fund': ({ visit: { accountId } }) =>
    call('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: TEST_FUNDS }),
});

/** All calls as `{ pattern, handle }`. The pattern matches method and path. */
export function routesOf(call, { sandbox }) {
  /** Checked for every call that requires a sign-in, because another device can revoke a session. */
  async function checkSignedIn(visit) {
    const { body } = await listOf(call, visit, 'sessions');
    if (body.data.some(({ id }) => id === visit.sessionId)) return;
    throw rejection(401, 'SIGN_IN', 'Please sign in again.');
  }

  const routeOf = ([operation, handle]) => ({
    pattern: new RegExp(
      `^${operation.replace(' ', ' /api/').replace('{id}', '([A-Za-z]+:[0-9a-f-]+)')}$`,
    ),
    handle,
  });
  const guardedRoutes = Object.entries({
    ...walletRoutes(call),
    ...paymentRoutes(call),
    ...(sandbox && sandboxRoutes(call)),
  }).map(([operation, handle]) => [
    operation,
    async (request) => {
      await checkSignedIn(request.visit);
      return handle(request);
    },
  ]);
  return [...Object.entries(openRoutes(call)), ...guardedRoutes].map(routeOf);
}
