// Traces of one payment, received by a collector over HTTP. Request, operation, commit, job, connector
// calls and event delivery are one tree. Further tests cover the context of clients and
// receivers, sampling, and a failing collector.
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

let receivedBodies: string[] = [];
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
      if (request.url === '/v1/traces' && request.headers['api-key'] === 'k')
        receivedBodies.push(body);
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
  receivedBodies = [];
});

/** Waits at most 15 seconds until the exporter has sent a span with this name. Returns all spans. */
async function waitForSpan(name: string): Promise<ReceivedSpan[]> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const spans = spansIn(receivedBodies);
    if (spans.some((span) => span.name === name) || performance.now() > deadline) return spans;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a trace', () => {
  it('of a payment has one tree of spans from the request to the delivery', async () => {
    await app.call('PATCH', '/config', { webhookEndpoint: 'http://127.0.0.1:9/hook' });
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'EUR');
    await app.settle();
    const body = quoteBody(account.id, target.id, 100_00, { immediatelyExecute: true });
    const headers = { traceparent: PARENT };
    const { transactionId } = ok(await app.call('POST', '/quotes', body, { headers }), 201);
    await app.settle();
    // Spans are sent in the order of their completion, so the span of this request is the last.
    await app.call('GET', '/transactions/Transaction:none');
    await waitForSpan('getTransactionById');
    const spans = spansIn(receivedBodies).filter(({ traceId }) => traceId === TRACE);
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
    const spanIds = new Set(spans.map(({ spanId }) => spanId));
    const roots = spans.filter(({ parentSpanId }) => !spanIds.has(parentSpanId ?? ''));
    expect(roots).toEqual([request]);
    expect(webhookHeaders.some(({ traceparent }) => traceparent?.includes(TRACE))).toBe(true);
    // Requests contain names, account numbers and secrets, which spans must not contain.
    const text = receivedBodies.join('\n');
    for (const value of [person.fullName, app.platform.clientSecret, 'DE89']) {
      expect(text).not.toContain(value);
    }
  });

  it('records the status 404 of a rejected request', async () => {
    const { status } = await app.call('GET', '/transactions/Transaction:none', undefined, {
      headers: { traceparent: PARENT.replace(/3331-00$/, '3332-00') },
    });
    expect(status).toBe(404);
    const spans = await waitForSpan('getTransactionById');
    const requestSpan = spans.find(({ name }) => name === 'getTransactionById');
    expect(requestSpan?.status.code).toBe(0);
    expect(JSON.stringify(requestSpan?.attributes)).toContain('"intValue":"404"');
  });
});

describe('sampling and context', () => {
  const sampledShare = (name: Parameters<typeof samplerOf>[0], ratio: number, parent?: boolean) => {
    const sampler = samplerOf(name, ratio);
    const effects = testEffects();
    const ids = Array.from({ length: 4_000 }, () =>
      Buffer.from(effects.random(16)).toString('hex'),
    );
    return ids.filter((id) => sampler(id, parent)).length / ids.length;
  };

  it('follows the ratio, and the parent for parent-based samplers only', () => {
    expect(sampledShare('traceidratio', 0.25)).toBeCloseTo(0.25, 1);
    expect(sampledShare('traceidratio', 0, true)).toBe(0);
    expect(sampledShare('parentbased_traceidratio', 0, true)).toBe(1);
    expect(sampledShare('parentbased_always_on', 0, false)).toBe(0);
    expect([sampledShare('always_on', 0), sampledShare('always_off', 1)]).toEqual([1, 0]);
  });

  it('reads the context of a valid header only', () => {
    expect(contextOf(PARENT)).toEqual({
      ...{ traceId: TRACE, spanId: 'b7ad6b7169203331', isSampled: false },
    });
    expect(contextOf(`00-${'0'.repeat(32)}-b7ad6b7169203331-01`)).toBeUndefined();
    expect(contextOf('x')).toBeUndefined();
  });

  it('creates no context for work that is not sampled', async () => {
    const finishedSpans: FinishedSpan[] = [];
    const effects = testEffects();
    const disabledTracer = createTracer({
      effects,
      sampler: () => false,
      onFinish: (s) => finishedSpans.push(s),
    });
    const enabledTracer = createTracer({
      effects,
      sampler: () => true,
      onFinish: (s) => finishedSpans.push(s),
    });
    const unsampledSpan = disabledTracer.start('a', 'server', {});
    expect(unsampledSpan).toBeUndefined();
    await inSpan(unsampledSpan, async () => expect(currentSpan()).toBeUndefined());
    const span = enabledTracer.start('b', 'server', {});
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
    expect(finishedSpans.map(({ name }) => name)).toEqual(['async']);
  });
});

describe('a failing collector', () => {
  it('causes dropped spans and a log entry', async () => {
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
