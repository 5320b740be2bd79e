// The platform's backend: it alone holds the API's client id and secret. The page may ask it for the calls
// on the list below, and each is tied to the wallet of whoever is at the page; it never sees a private key.
// A visit begins with an e-mail address, and may read and move only after the server opened a session for it.
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const LARGEST_BODY = 64 * 1024;
const VISIT_MS = 60 * 60_000;
const PATIENCE_MS = 10_000;
/** What goes through besides the body: whose signature this is, and of which request. */
const RELAYED = ['service-wallet-signature', 'request-id'];

/** Everything comes from here and goes here; no script but ours runs. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

const refusal = (status, code, reason) => ({ status, body: { code, reason } });

/** Calls the API as the platform; throws every answer that refuses. */
function client({ baseUrl, clientId, clientSecret }) {
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

/** A platform knows its customers by its own sign-up; here one is made up for every new address. */
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
    address: { line1: '1 Main St', city: 'Austin', postalCode: '78701', country: 'US' },
  });
  return made.body;
}

/** A new customer's wallet is made in a moment, and with it the credential that it starts with. */
async function walletOf(call, customerId) {
  const path = `/customers/internal-accounts?customerId=${customerId}&type=EMBEDDED_WALLET`;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(200)) {
    const [account] = (await call('GET', path)).body.data;
    if (account?.status === 'ACTIVE') return account.id;
  }
  throw refusal(503, 'SERVICE_UNAVAILABLE', 'The wallet is not ready yet. Please try again.');
}

/** Where payouts of this example go. */
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

/** The list: what the page may ask for, and which call that becomes. Nothing else goes through. */
function routesOf(call, { sandbox }) {
  const listOf = (visit, what) => call('GET', `/auth/${what}?accountId=${visit.accountId}`);

  /** Throws where a credential or session is not of the visit's wallet. */
  async function own(visit, what, id) {
    const { body } = await listOf(visit, what);
    if (!body.data.some((each) => each.id === id)) throw refusal(404, 'NOT_FOUND', 'No such id.');
  }

  async function isSignedIn(visit) {
    if (!visit.sessionId) return false;
    const { body } = await listOf(visit, 'sessions');
    return body.data.some(({ id }) => id === visit.sessionId);
  }

  const open = {
    'POST credentials/{id}/challenge': async ({ visit, id, body }) => {
      await own(visit, 'credentials', id);
      return call('POST', `/auth/credentials/${id}/challenge`, body);
    },
    'POST credentials/{id}/verify': async ({ visit, id, body, headers }) => {
      await own(visit, 'credentials', id);
      const answer = await call('POST', `/auth/credentials/${id}/verify`, body, headers);
      if (answer.body.id?.startsWith('Session:')) visit.sessionId = answer.body.id;
      return answer;
    },
  };

  const signedIn = {
    'GET account': ({ visit }) => call('GET', `/internal-accounts/${visit.accountId}`),
    'GET credentials': ({ visit }) => listOf(visit, 'credentials'),
    'POST credentials': ({ visit, body: { nickname, challenge, attestation }, headers }) => {
      const { accountId } = visit;
      const added = { type: 'PASSKEY', accountId, nickname, challenge, attestation };
      return call('POST', '/auth/credentials', added, headers);
    },
    'GET sessions': ({ visit }) => listOf(visit, 'sessions'),
    'DELETE sessions/{id}': async ({ visit, id, headers }) => {
      await own(visit, 'sessions', id);
      return call('DELETE', `/auth/sessions/${id}`, undefined, headers);
    },
    'POST quotes': async ({ visit, body: { amount } }) => {
      const payee = await payeeOf(call, visit.customerId);
      const answer = await call('POST', '/quotes', {
        source: { sourceType: 'ACCOUNT', accountId: visit.accountId },
        destination: { destinationType: 'ACCOUNT', accountId: payee },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: amount,
      });
      visit.quotes.add(answer.body.id);
      return answer;
    },
    'GET quotes/{id}': ({ id }) => call('GET', `/quotes/${id}`),
    'POST quotes/{id}/execute': ({ id, headers }) =>
      call('POST', `/quotes/${id}/execute`, undefined, headers),
    'POST export': ({ visit, body: { clientPublicKey }, headers }) =>
      call('POST', `/internal-accounts/${visit.accountId}/export`, { clientPublicKey }, headers),
    ...(sandbox && {
      'POST fund': ({ visit }) =>
        call('POST', `/sandbox/internal-accounts/${visit.accountId}/fund`, { amount: 100_000_000 }),
    }),
  };

  const guarded = (handle, checksQuote) => async (request) => {
    const { visit, id } = request;
    if (!(await isSignedIn(visit))) throw refusal(401, 'SIGN_IN', 'Please sign in again.');
    if (checksQuote && !visit.quotes.has(id)) throw refusal(404, 'NOT_FOUND', 'No such quote.');
    return handle(request);
  };

  const routeOf = ([on, handle]) => ({
    pattern: new RegExp(`^${on.replace(' ', ' /api/').replace('{id}', '([A-Za-z]+:[0-9a-f-]+)')}$`),
    handle,
  });
  return [
    ...Object.entries(open).map(routeOf),
    ...Object.entries(signedIn).map(([on, handle]) =>
      routeOf([on, guarded(handle, on.includes('quotes/'))]),
    ),
  ];
}

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > LARGEST_BODY) throw refusal(413, 'TOO_LARGE', 'The body is too large.');
  }
  if (!text) return {};
  try {
    const body = JSON.parse(text);
    if (body && typeof body === 'object' && !Array.isArray(body)) return body;
  } catch {}
  throw refusal(400, 'INVALID_INPUT', 'The body is not a JSON object.');
}

/** Visits, by the cookie that names them. They live in memory: a restart signs everybody out. */
function visitBook() {
  const visits = new Map();
  return {
    find: (request) => visits.get(/(?:^|; )visit=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]),
    /** Under a new name, so that nobody who knew the old one comes in with whoever signs in. */
    name(visit) {
      const now = Date.now();
      for (const [key, each] of visits) {
        if (each === visit || each.until < now) visits.delete(key);
      }
      const key = randomBytes(24).toString('base64url');
      visits.set(key, visit);
      return `visit=${key}; HttpOnly; SameSite=Strict; Path=/`;
    },
  };
}

/**
 * Starts the backend on `localhost` with the files of the page, each `{ type, content }` by its path.
 * Answers its address.
 */
export async function startBackend({ api, files, port, sandbox }) {
  const call = client(api);
  const routes = routesOf(call, { sandbox });
  const book = visitBook();
  let host;

  async function enter(request) {
    const { email } = await bodyOf(request);
    const address = String(email ?? '')
      .trim()
      .toLowerCase();
    const { id: customerId } = await customerOf(call, address);
    const accountId = await walletOf(call, customerId);
    const visit = { customerId, accountId, quotes: new Set(), until: Date.now() + VISIT_MS };
    const credentials = await call('GET', `/auth/credentials?accountId=${accountId}`);
    return { ...credentials, cookie: book.name(visit) };
  }

  async function relay(request, path) {
    const on = `${request.method} ${path}`;
    if (on === 'POST /api/visit') return enter(request);
    const route = routes.find(({ pattern }) => pattern.test(on));
    if (!route) throw refusal(404, 'NOT_FOUND', 'This is not relayed.');
    const visit = book.find(request);
    if (!visit || visit.until < Date.now()) throw refusal(401, 'SIGN_IN', 'Please sign in.');
    const before = visit.sessionId;
    const sent = RELAYED.filter((name) => request.headers[name] !== undefined);
    const answer = await route.handle({
      visit,
      id: route.pattern.exec(on)[1],
      body: await bodyOf(request),
      headers: Object.fromEntries(sent.map((name) => [name, request.headers[name]])),
    });
    return visit.sessionId === before ? answer : { ...answer, cookie: book.name(visit) };
  }

  async function answer(request) {
    // No other site's page may talk to us, not even under a name that it made point here.
    if (request.headers.host !== host) throw refusal(421, 'WRONG_HOST', `This is ${host}.`);
    const { pathname } = new URL(request.url, `http://${host}`);
    const file = request.method === 'GET' && files[pathname];
    if (file) return { status: 200, file };
    if (request.method !== 'GET' && request.headers.origin !== `http://${host}`) {
      throw refusal(403, 'WRONG_ORIGIN', 'Only our own page may ask for this.');
    }
    return relay(request, pathname);
  }

  const server = createServer(async (request, response) => {
    const { status, body, file, cookie, retryAfter } = await answer(request).catch((error) => {
      if (error.status) return error;
      console.error(error.message);
      return refusal(502, 'UNREACHABLE', 'The server cannot be reached.');
    });
    const type = file?.type ?? (body && 'application/json');
    response.writeHead(status, {
      ...HEADERS,
      ...(type && { 'content-type': type }),
      ...(cookie && { 'set-cookie': cookie }),
      ...(retryAfter && { 'retry-after': retryAfter }),
    });
    response.end(file?.content ?? (body && JSON.stringify(body)));
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, 'localhost', resolve);
  });
  host = `localhost:${server.address().port}`;
  return { url: `http://${host}` };
}
