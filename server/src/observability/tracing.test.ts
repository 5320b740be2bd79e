// Traces of one payment, received by a collector over HTTP: the request, its operation and commit, the
// job that this commit caused with its calls of the connector, and the delivery of its events are one
// tree. Also the context that clients send and receivers get, sampling, and a collector that fails.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testEffects } from '../../test/kit/app/effects.ts';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../test/kit/app/fixtures.ts';
import { startApp, type TestApp } from '../../test/kit/app/harness.ts';
import { createExporter } from '../runtime/observability/tracing/otlp.ts';
import { samplerOf } from '../runtime/observability/tracing/sampling.ts';
import {
  contextOf,
  createTracer,
  currentSpan,
  type FinishedSpan,
  inSpan,
  traceCall,
} from '../runtime/observability/tracing/tracer.ts';

interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code: number };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = `00-${TRACE}-b7ad6b7169203331-00`;

let received: string[] = [];
let collector: http.Server;
let app: TestApp;
const webhookHeaders: Record<string, string>[] = [];

const spansIn = (bodies: readonly string[]): ReceivedSpan[] =>
  bodies
    .map((body) => JSON.parse(body))
    .flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);

beforeAll(async () => {
  collector = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (request.url === '/v1/traces' && request.headers['api-key'] === 'k') received.push(body);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  app = await startApp({
    tracing: {
      ...{ endpoint, headers: { 'api-key': 'k' }, serviceName: 'railhead' },
      ...{ sampler: 'always_on', ratio: 1 },
    },
  });
  app.effects.http = async ({ url, method, headers, body }) => {
    if (url.startsWith(endpoint)) {
      const response = await fetch(url, { method, headers, ...(body ? { body } : {}) });
      return { status: response.status, headers: {}, body: await response.text() };
    }
    webhookHeaders.push(headers);
    return { status: 200, headers: {}, body: '' };
  };
});

afterAll(async () => {
  await app.close();
  await new Promise((resolve) => collector.close(resolve));
});

beforeEach(() => {
  received = [];
});

/** Waits until the exporter has sent a span with this name. */
async function collected(name: string): Promise<ReceivedSpan[]> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const spans = spansIn(received);
    if (spans.some((span) => span.name === name) || performance.now() > deadline) return spans;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a payment', () => {
  it('has one tree of spans from the request to the delivery', async () => {
    await app.call('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:9/hook' });
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    await app.settle();
    const body = quoteBody(account.id, target.id, 100_00, { immediatelyExecute: true });
    const headers = { traceparent: PARENT };
    const { transactionId } = ok(await app.call('POST', '/quotes', body, { headers }), 201);
    await app.settle();
    // Spans are sent in the order of their ends: this one is the last.
    await app.call('GET', '/transactions/Transaction:none');
    await collected('getTransactionById');
    const spans = spansIn(received).filter(({ traceId }) => traceId === TRACE);
    const childrenOf = (parent: ReceivedSpan | undefined, name: string) =>
      spans.filter((span) => span.parentSpanId === parent?.spanId && span.name === name);
    const [request] = spans.filter(({ name }) => name === 'createQuote');
    expect(request?.parentSpanId).toBe('b7ad6b7169203331');
    const [operation] = childrenOf(request, 'operation');
    expect(childrenOf(operation, 'commit')).toHaveLength(1);
    const [job] = childrenOf(operation, 'job payout.send');
    const attributes = Object.fromEntries(
      (job?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]),
    );
    expect(attributes).toMatchObject({
      'railhead.transaction_id': transactionId,
      'railhead.result': 'done',
    });
    expect(childrenOf(job, 'connector rail.send').length).toBeGreaterThan(0);
    expect(childrenOf(operation, 'delivery').length).toBeGreaterThan(0);
    expect(childrenOf(job, 'operation')).toHaveLength(1);
    const known = new Set(spans.map(({ spanId }) => spanId));
    const roots = spans.filter(({ parentSpanId }) => !known.has(parentSpanId ?? ''));
    expect(roots).toEqual([request]);
    expect(webhookHeaders.some(({ traceparent }) => traceparent?.includes(TRACE))).toBe(true);
    // Names, account numbers and secrets are in requests, and in no span.
    const text = received.join('\n');
    for (const value of [person.fullName, app.platform.clientSecret, 'DE89']) {
      expect(text).not.toContain(value);
    }
  });

  it('that fails is marked', async () => {
    const { status } = await app.call('GET', '/transactions/Transaction:none', undefined, {
      headers: { traceparent: PARENT.replace(/3331-00$/, '3332-00') },
    });
    expect(status).toBe(404);
    const spans = await collected('getTransactionById');
    const failed = spans.find(({ name }) => name === 'getTransactionById');
    expect(failed?.status.code).toBe(0);
    expect(JSON.stringify(failed?.attributes)).toContain('"intValue":"404"');
  });
});

describe('sampling', () => {
  const share = (name: Parameters<typeof samplerOf>[0], ratio: number, parent?: boolean) => {
    const sampler = samplerOf(name, ratio);
    const effects = testEffects();
    const ids = Array.from({ length: 4_000 }, () =>
      Buffer.from(effects.random(16)).toString('hex'),
    );
    return ids.filter((id) => sampler(id, parent)).length / ids.length;
  };

  it('follows the ratio, and the parent only if the sampler is based on it', () => {
    expect(share('traceidratio', 0.25)).toBeCloseTo(0.25, 1);
    expect(share('traceidratio', 0, true)).toBe(0);
    expect(share('parentbased_traceidratio', 0, true)).toBe(1);
    expect(share('parentbased_always_on', 0, false)).toBe(0);
    expect([share('always_on', 0), share('always_off', 1)]).toEqual([1, 0]);
  });

  it('reads the context of a valid header only', () => {
    expect(contextOf(PARENT)).toEqual({
      ...{ traceId: TRACE, spanId: 'b7ad6b7169203331', isSampled: false },
    });
    expect(contextOf(`00-${'0'.repeat(32)}-b7ad6b7169203331-01`)).toBeUndefined();
    expect(contextOf('x')).toBeUndefined();
  });

  it('costs no context for work that is not sampled', async () => {
    const finished: FinishedSpan[] = [];
    const effects = testEffects();
    const off = createTracer({ effects, sampler: () => false, finished: (s) => finished.push(s) });
    const on = createTracer({ effects, sampler: () => true, finished: (s) => finished.push(s) });
    const unsampled = off.start('a', 'server', {});
    expect(unsampled).toBeUndefined();
    await inSpan(unsampled, async () => expect(currentSpan()).toBeUndefined());
    const span = on.start('b', 'server', {});
    await inSpan(span, async () => {
      await Promise.resolve();
      expect(currentSpan()).toBe(span);
      expect(traceCall('sync', 'client', () => 1)).toBe(1);
      await traceCall('async', 'client', async () => undefined);
    });
    await inSpan(span, async () => {
      await inSpan(undefined, async () => expect(currentSpan()).toBeUndefined());
    });
    expect(currentSpan()).toBeUndefined();
    expect(finished.map(({ name }) => name)).toEqual(['async']);
  });
});

describe('a collector that fails', () => {
  it('loses spans, and is logged', async () => {
    const warnings: object[] = [];
    const exporter = createExporter({
      effects: { http: async () => ({ status: 503, headers: {}, body: '' }) },
      ...{ endpoint: 'http://127.0.0.1:1/', headers: {}, resource: {} },
      log: { warn: (fields) => void warnings.push(fields) },
    });
    exporter.add({
      ...{ traceId: TRACE, spanId: 'b7ad6b7169203331', parentId: undefined, name: 'a' },
      ...{ kind: 'server', startedAt: 0, ms: 1, attributes: {}, isFailed: true },
    });
    await exporter.flush();
    expect(warnings).toMatchObject([{ dropped: 1 }]);
    await exporter.stop();
  });
});
