// The calls that the page may use, and the API call for each; all others are rejected. Every call is
// restricted to the wallet of the visit, independent of the parameters of the page.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 10_000;
const TEST_FUNDS = 100_000_000;

export const refusal = (status, code, reason) => ({ status, body: { code, reason } });

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
    const answer = {
      status: reply.status,
      body: text ? JSON.parse(text) : undefined,
      retryAfter: reply.headers.get('retry-after'),
    };
    if (!reply.ok) throw answer;
    return answer;
  };
}

/** Creates a customer for every new address. A real platform has its own sign-up. */
async function customerOf(call, email) {
  const platformCustomerId = `wallet-web-${createHash('sha256').update(email).digest('hex')}`;
  const found = await call('GET', `/customers?platformCustomerId=${platformCustomerId}`);
  if (found.body.data.length) return found.body.data[0];
  const made = await call('POST', '/customers', {
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
  return made.body;
}

/** The wallet of a new customer and its first credential are provisioned asynchronously. */
async function walletOf(call, customerId) {
  const path = `/customers/internal-accounts?customerId=${customerId}&type=EMBEDDED_WALLET`;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(200)) {
    const [account] = (await call('GET', path)).body.data;
    if (account?.status === 'ACTIVE') return account.id;
  }
  throw refusal(503, 'SERVICE_UNAVAILABLE', 'The wallet is not ready yet. Please try again.');
}

/** Finds the wallet of an address for the sign-in of a visit. */
export async function enter(call, email) {
  const { id: customerId } = await customerOf(call, email);
  const accountId = await walletOf(call, customerId);
  const credentials = await call('GET', `/auth/credentials?accountId=${accountId}`);
  return { visit: { customerId, accountId, quotes: new Set() }, credentials };
}

/** Payee of this example. */
async function payeeOf(call, customerId) {
  const path = '/customers/external-accounts';
  const [known] = (await call('GET', `${path}?customerId=${customerId}`)).body.data;
  if (known) return known.id;
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
  const accountInfo = {
    accountType: 'EUR_ACCOUNT',
    iban: 'DE89370400440532013000',
    beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
  };
  return (await call('POST', path, { customerId, currency: 'EUR', accountInfo })).body.id;
}

const listOf = (call, visit, what) => call('GET', `/auth/${what}?accountId=${visit.accountId}`);

/** Throws if a credential or session does not belong to the wallet of the visit. */
async function own(call, visit, what, id) {
  const { body } = await listOf(call, visit, what);
  if (!body.data.some((each) => each.id === id)) throw refusal(404, 'NOT_FOUND', 'No such id.');
}

/** Available before sign-in. */
const openRoutes = (call) => ({
  'POST credentials/{id}/challenge': async ({ visit, id, body }) => {
    await own(call, visit, 'credentials', id);
    return call('POST', `/auth/credentials/${id}/challenge`, body);
  },
  'POST credentials/{id}/verify': async ({ visit, id, body, headers }) => {
    await own(call, visit, 'credentials', id);
    const answer = await call('POST', `/auth/credentials/${id}/verify`, body, headers);
    if (answer.body.id?.startsWith('Session:')) visit.sessionId = answer.body.id;
    return answer;
  },
});

const walletRoutes = (call) => ({
  'GET account': ({ visit }) => call('GET', `/internal-accounts/${visit.accountId}`),
  'GET credentials': ({ visit }) => listOf(call, visit, 'credentials'),
  'POST credentials': ({ visit, body: { nickname, challenge, attestation }, headers }) => {
    const { accountId } = visit;
    const added = { type: 'PASSKEY', accountId, nickname, challenge, attestation };
    return call('POST', '/auth/credentials', added, headers);
  },
  'GET sessions': ({ visit }) => listOf(call, visit, 'sessions'),
  'DELETE sessions/{id}': async ({ visit, id, headers }) => {
    await own(call, visit, 'sessions', id);
    return call('DELETE', `/auth/sessions/${id}`, undefined, headers);
  },
  'POST export': ({ visit, body: { clientPublicKey }, headers }) =>
    call('POST', `/internal-accounts/${visit.accountId}/export`, { clientPublicKey }, headers),
});

const paymentRoutes = (call) => ({
  'POST quotes': async ({ visit, body: { amount } }) => {
    const answer = await call('POST', '/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: visit.accountId },
      destination: {
        destinationType: 'ACCOUNT',
        accountId: await payeeOf(call, visit.customerId),
      },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: amount,
    });
    visit.quotes.add(answer.body.id);
    return answer;
  },
  'GET quotes/{id}': ({ visit, id }) => call('GET', `/quotes/${ownQuote(visit, id)}`),
  'POST quotes/{id}/execute': ({ visit, id, headers }) =>
    call('POST', `/quotes/${ownQuote(visit, id)}/execute`, undefined, headers),
});

function ownQuote({ quotes }, id) {
  if (!quotes.has(id)) throw refusal(404, 'NOT_FOUND', 'Quote not found.');
  return id;
}

const sandboxRoutes = (call) => ({
  'POST fund': ({ visit: { accountId } }) =>
    call('POST', `/sandbox/internal-accounts/${accountId}/fund`, { amount: TEST_FUNDS }),
});

/** All calls as `{ pattern, handle }`; the pattern matches method and path. */
export function routesOf(call, { sandbox }) {
  /** Checked for every call, because a session can be ended on another device. */
  async function checkSignedIn(visit) {
    const { body } = await listOf(call, visit, 'sessions');
    if (body.data.some(({ id }) => id === visit.sessionId)) return;
    throw refusal(401, 'SIGN_IN', 'Please sign in again.');
  }

  const routeOf = ([on, handle]) => ({
    pattern: new RegExp(`^${on.replace(' ', ' /api/').replace('{id}', '([A-Za-z]+:[0-9a-f-]+)')}$`),
    handle,
  });
  const guarded = Object.entries({
    ...walletRoutes(call),
    ...paymentRoutes(call),
    ...(sandbox && sandboxRoutes(call)),
  }).map(([on, handle]) => [
    on,
    async (request) => {
      await checkSignedIn(request.visit);
      return handle(request);
    },
  ]);
  return [...Object.entries(openRoutes(call)), ...guarded].map(routeOf);
}
