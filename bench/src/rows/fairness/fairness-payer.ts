// The platform whose payments row 8 measures: one customer, one connection, one payment at a time. The
// payments remain below every rate limit, so any delay is caused by another client.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZATION, BASE } from '../../machine/api.ts';
import { percentile, type Run } from '../../table/stats.ts';

/** Amounts in minor units. */
export const TRANSFER = 1_00;
export const PAYOUT = 10_00;

/** Minimum interval of payments, which corresponds to half of the rate limit of a platform. */
const MIN_INTERVAL_MS = 4;
const POLL_MS = 10;
/** Timeout of a request, and of the completion of a payment. */
const TIMEOUT_MS = 150_000;

export interface Accounts {
  /** A customer's USD account. */
  source: string;
  /** The same customer's external account. */
  destination: string;
}

export interface Bounds {
  seconds: number;
  /** Number of payments that are measured even after `seconds`. */
  minPayments: number;
  /** No payment starts after this time, even if fewer than `minPayments` were measured. */
  maxSeconds: number;
}

export interface Payer {
  /** Executes a transfer out. Returns the milliseconds until it is accepted. */
  transfer(): Promise<number>;
  /**
   * Executes a quote to the external account. Returns the milliseconds until the payment is
   * COMPLETED.
   */
  payout(): Promise<number>;
  close(): void;
}

interface HttpReply {
  status: number;
  text: string;
}

function createCaller(port: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let keyCount = 0;
  const runId = `${process.pid}-${Math.round(performance.timeOrigin + performance.now())}`;
  const send = (method: string, path: string, body: string): Promise<HttpReply> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: AUTHORIZATION,
        ...(body === '' ? {} : { 'content-type': 'application/json' }),
        'content-length': Buffer.byteLength(body),
        ...(method === 'POST' ? { 'idempotency-key': `${runId}-${++keyCount}` } : {}),
      };
      const options = { agent, port, host: '127.0.0.1', method, path: BASE + path, headers };
      const request = http.request({ ...options, timeout: TIMEOUT_MS }, (reply) => {
        let text = '';
        reply.setEncoding('utf8');
        reply.on('data', (chunk) => {
          text += chunk;
        });
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }));
        reply.on('error', reject);
      });
      request.on('timeout', () =>
        request.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)),
      );
      request.on('error', reject);
      request.end(body);
    });
  return {
    async call<R>(method: string, path: string, status: number, body?: unknown): Promise<R> {
      const response = await send(method, path, body === undefined ? '' : JSON.stringify(body));
      if (response.status === status) return JSON.parse(response.text) as R;
      throw new Error(`${method} ${path}: ${response.status} ${response.text.slice(0, 500)}`);
    },
    close: () => agent.destroy(),
  };
}

/** A payer with a separate connection. */
export function createPayer(port: number, { source, destination }: Accounts): Payer {
  const { call, close } = createCaller(port);
  const waitForCompletion = async (id: string, startedAt: number) => {
    for (; performance.now() - startedAt < TIMEOUT_MS; await sleep(POLL_MS)) {
      const { status } = await call<{ status: string }>('GET', `/transactions/${id}`, 200);
      if (status === 'COMPLETED') return;
      if (status === 'FAILED') throw new Error(`${id} is FAILED`);
    }
    throw new Error(`${id} is not COMPLETED within ${TIMEOUT_MS} ms`);
  };
  return {
    async transfer() {
      const startedAt = performance.now();
      await call('POST', '/transfer-out', 201, {
        source: { accountId: source },
        destination: { accountId: destination },
        amount: TRANSFER,
      });
      return performance.now() - startedAt;
    },
    async payout() {
      const quote = await call<{ id: string; transactionId: string }>('POST', '/quotes', 201, {
        source: { sourceType: 'ACCOUNT', accountId: source },
        destination: { destinationType: 'ACCOUNT', accountId: destination },
        lockedCurrencySide: 'SENDING',
        lockedCurrencyAmount: PAYOUT,
      });
      const startedAt = performance.now();
      await call('POST', `/quotes/${quote.id}/execute`, 200);
      await waitForCompletion(quote.transactionId, startedAt);
      return performance.now() - startedAt;
    },
    close,
  };
}

/** Executes one payment after the other. A failed payment counts as an error, and its time as a latency. */
export async function paySequentially(pay: () => Promise<number>, bounds: Bounds): Promise<Run> {
  const latencies: number[] = [];
  let [paymentCount, errors] = [0, 0];
  let firstError: string | undefined;
  const startMs = performance.now();
  const elapsedS = () => (performance.now() - startMs) / 1000;
  const isOver = () =>
    elapsedS() >= bounds.maxSeconds ||
    (elapsedS() >= bounds.seconds && latencies.length >= bounds.minPayments);
  while (!isOver()) {
    const startedAt = performance.now();
    try {
      latencies.push(await pay());
      paymentCount++;
    } catch (error) {
      latencies.push(performance.now() - startedAt);
      errors++;
      firstError ??= error instanceof Error ? error.message : `${error}`;
    }
    // Timers have a resolution of one millisecond.
    await sleep(Math.max(0, Math.ceil(MIN_INTERVAL_MS - (performance.now() - startedAt))));
  }
  return {
    perSecond: paymentCount / elapsedS(),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    errors,
    firstError,
    completedCount: paymentCount,
  };
}
