// Simulates the fictitious Meridian Bank: an API with OAuth 2.0 client credentials, decimal amounts
// and webhooks signed with HMAC. Payments are not idempotent, so a repeated POST creates another
// payment. A payment is visible as soon as its POST was processed, possibly after the client has
// closed the connection.
import { createHmac, randomUUID } from 'node:crypto';
import http from 'node:http';
import { json, text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const TOKEN_SECONDS = 2;
const REDELIVERY_MS = 200;

/** Events of a payment by its `sandbox_outcome`. */
const OUTCOMES = {
  SETTLE: ['payment.settled'],
  REJECT: ['payment.rejected'],
  RETURN: ['payment.settled', 'payment.returned'],
  HOLD: [],
};
const STATUS = {
  'payment.settled': 'SETTLED',
  'payment.rejected': 'REJECTED',
  'payment.returned': 'RETURNED',
};

function createNotifier({ webhookUrl, webhookSecret }, isOpen) {
  /** Repeats an event with the same ID until it is acknowledged. */
  return async (event) => {
    const body = JSON.stringify({ event_id: randomUUID(), ...event });
    while (isOpen()) {
      const time = Math.floor(Date.now() / 1_000);
      const mac = createHmac('sha256', webhookSecret).update(`${time}.${body}`).digest('hex');
      const headers = { 'bank-signature': `t=${time},v1=${mac}` };
      const request = { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) };
      const reply = await fetch(webhookUrl, request).catch(() => undefined);
      if (reply?.ok) return;
      await sleep(REDELIVERY_MS);
    }
  };
}

function createTokenIssuer({ clientId, clientSecret }) {
  const validTokens = new Map();
  const expectedAuthorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  return {
    isValid: ({ authorization = '' }) =>
      (validTokens.get(authorization.replace('Bearer ', '')) ?? 0) > Date.now(),
    issue({ authorization }, body) {
      if (authorization !== expectedAuthorization || body !== 'grant_type=client_credentials')
        return undefined;
      const token = randomUUID();
      validTokens.set(token, Date.now() + TOKEN_SECONDS * 1_000);
      return { access_token: token, token_type: 'Bearer', expires_in: TOKEN_SECONDS };
    },
  };
}

/** Starts the bank. `delayMs` is the processing time of a payment. */
export async function startBank(options) {
  const { port = 0, delayMs = 50 } = options;
  let isOpen = true;
  const payments = [];
  const notify = createNotifier(options, () => isOpen);
  const oauth = createTokenIssuer(options);
  const publicFieldsOf = ({ events: _, ...payment }) => payment;

  async function proceedWithPayment(payment) {
    for (const type of payment.events) {
      await sleep(delayMs);
      payment.status = STATUS[type];
      await notify({ type, ...publicFieldsOf(payment) });
    }
  }
  async function pay({ sandbox_outcome: outcome = 'SETTLE', ...order }) {
    await sleep(delayMs);
    const payment = { payment_id: `MB-${payments.length + 1}`, ...order, status: 'PENDING' };
    payments.push({ ...payment, events: OUTCOMES[outcome] });
    void proceedWithPayment(payments.at(-1));
    return [201, payment];
  }
  function cancel(id) {
    const payment = payments.find((candidate) => candidate.payment_id === id);
    if (!payment) return [404, {}];
    if (payment.status !== 'PENDING' || payment.events.length > 0)
      return [409, publicFieldsOf(payment)];
    payment.status = 'CANCELLED';
    return [200, publicFieldsOf(payment)];
  }
  async function respond(request) {
    const { method, headers } = request;
    const { pathname, searchParams } = new URL(request.url, 'http://bank');
    if (pathname === '/oauth/token') {
      const token = oauth.issue(headers, await text(request));
      return token ? [200, token] : [401, { error: 'invalid_client' }];
    }
    if (!oauth.isValid(headers)) return [401, { error: 'invalid_token' }];
    if (pathname.startsWith('/v2/payments/') && method === 'DELETE') {
      return cancel(pathname.split('/')[3]);
    }
    if (pathname !== '/v2/payments') return [404, {}];
    if (method === 'POST') return pay(await json(request));
    const id = searchParams.get('end_to_end_id');
    return [
      200,
      { payments: payments.filter((payment) => payment.end_to_end_id === id).map(publicFieldsOf) },
    ];
  }
  const server = http.createServer(async (request, response) => {
    const [status, body] = await respond(request).catch(() => [400, {}]);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    payments,
    /** Books a credit from a third party, and reports it by a webhook. */
    credit: (fields) => notify({ type: 'credit.booked', ...fields }),
    close() {
      isOpen = false;
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
