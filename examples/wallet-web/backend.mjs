// The platform's backend: serves the page and relays the calls listed in relay.mjs. Only the backend
// has the API credentials, and it never receives a private key. A visit starts with an e-mail
// address. Reads and payments require a session of the API.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { client, openVisit, rejection, routesOf } from './relay.mjs';

const LARGEST_BODY = 64 * 1024;
const VISIT_MS = 60 * 60_000;
/** Forwarded headers: the signature and the request ID. */
const RELAYED_HEADERS = ['service-wallet-signature', 'request-id'];

/** Only scripts, styles and requests of this origin, and images as data URLs are allowed. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > LARGEST_BODY)
      throw rejection(413, 'TOO_LARGE', 'The body is larger than 64 KiB.');
  }
  if (!text) return {};
  try {
    const body = JSON.parse(text);
    if (body && typeof body === 'object' && !Array.isArray(body)) return body;
  } catch {}
  throw rejection(400, 'INVALID_INPUT', 'The body must be a JSON object.');
}

/** Visits by cookie, in memory, so a restart signs all users out. */
function createVisits() {
  const visits = new Map();
  return {
    find: (request) => visits.get(/(?:^|; )visit=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]),
    /** A new ID after sign-in prevents session fixation. */
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

function write(response, { status, body, file, cookie, retryAfter }) {
  const type = file?.type ?? (body && 'application/json');
  response.writeHead(status, {
    ...HEADERS,
    ...(type && { 'content-type': type }),
    ...(cookie && { 'set-cookie': cookie }),
    ...(retryAfter && { 'retry-after': retryAfter }),
  });
  response.end(file?.content ?? (body && JSON.stringify(body)));
}

/**
 * Starts the backend on `localhost` with the files of the page: `{ type, content }` by path.
 * Returns its address.
 */
export async function startBackend({ api, files, port, sandbox }) {
  const call = client(api);
  const routes = routesOf(call, { sandbox });
  const visits = createVisits();
  let host;

  async function beginVisit(request) {
    const { email } = await bodyOf(request);
    const entry = await openVisit(
      call,
      String(email ?? '')
        .trim()
        .toLowerCase(),
    );
    const visit = { ...entry.visit, until: Date.now() + VISIT_MS };
    return { ...entry.credentials, cookie: visits.name(visit) };
  }

  async function relay(request, path) {
    const operation = `${request.method} ${path}`;
    if (operation === 'POST /api/visit') return beginVisit(request);
    const route = routes.find(({ pattern }) => pattern.test(operation));
    if (!route) throw rejection(404, 'NOT_FOUND', 'This path is not supported.');
    const visit = visits.find(request);
    if (!visit || visit.until < Date.now()) throw rejection(401, 'SIGN_IN', 'Please sign in.');
    const sessionId = visit.sessionId;
    const forwardedNames = RELAYED_HEADERS.filter((name) => request.headers[name] !== undefined);
    const response = await route.handle({
      visit,
      id: route.pattern.exec(operation)[1],
      body: await bodyOf(request),
      headers: Object.fromEntries(forwardedNames.map((name) => [name, request.headers[name]])),
    });
    return visit.sessionId === sessionId ? response : { ...response, cookie: visits.name(visit) };
  }

  async function responseTo(request) {
    // Rejects requests of other sites, including DNS rebinding.
    if (request.headers.host !== host)
      throw rejection(421, 'WRONG_HOST', `The host must be ${host}.`);
    const { pathname } = new URL(request.url, `http://${host}`);
    const file = request.method === 'GET' && files[pathname];
    if (file) return { status: 200, file };
    if (request.method !== 'GET' && request.headers.origin !== `http://${host}`) {
      throw rejection(403, 'WRONG_ORIGIN', 'Only the page of this example may send this request.');
    }
    return relay(request, pathname);
  }

  const server = createServer(async (request, response) => {
    const apiResponse = await responseTo(request).catch((error) => {
      if (error.status) return error;
      console.error(error.message);
      return rejection(502, 'UNREACHABLE', 'The server cannot be reached.');
    });
    write(response, apiResponse);
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, 'localhost', resolve);
  });
  host = `localhost:${server.address().port}`;
  return { url: `http://${host}` };
}
