// Sends finished spans to a collector as OTLP over HTTP, in JSON. Spans are sent in batches. A failed batch
// is dropped after one log line, because traces must not fill the memory or delay payments.
import type { Effects } from '../../../kernel/effects.ts';
import type { Log } from '../log.ts';
import { within } from '../within.ts';
import { type Attributes, type FinishedSpan, SPAN_KINDS } from './tracer.ts';

interface ExporterOptions {
  effects: Pick<Effects, 'http'>;
  /** Base URL of the collector. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  /** Attributes of the process. */
  resource: Attributes;
  log: Pick<Log, 'warn'>;
}

export interface Exporter {
  add(span: FinishedSpan): void;
  flush(): Promise<void>;
  /** Sends the remaining spans, and stops after at most 1.5 s. Unsent spans are dropped. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 2_000;
const MAX_BATCH = 512;
/** Maximum queued spans. Further spans are dropped. */
const MAX_WAITING = 4_096;
const TIMEOUT_MS = 5_000;
const STOP_MS = 1_500;
/** Status codes of OTLP: 2 is an error, 0 is not set. */
const ERROR = 2;
const UNSET = 0;

const anyValueOf = (value: string | number | boolean) => {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValueOf(value) }));

/** Nanoseconds as text, because a number does not express them exactly. */
const nanoseconds = (ms: number) => String(BigInt(Math.round(ms * 1_000)) * 1_000n);

const spanOf = (span: FinishedSpan) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId === undefined ? {} : { parentSpanId: span.parentId }),
  name: span.name,
  kind: SPAN_KINDS[span.kind],
  startTimeUnixNano: nanoseconds(span.startedAt),
  endTimeUnixNano: nanoseconds(span.startedAt + span.ms),
  attributes: attributesOf(span.attributes),
  status: { code: span.isFailed ? ERROR : UNSET },
});

/** The body of a request to the collector. */
const requestOf = (spans: readonly FinishedSpan[], resource: Attributes) => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [{ scope: { name: 'railhead' }, spans: spans.map(spanOf) }],
    },
  ],
});

export function createExporter(options: ExporterOptions): Exporter {
  const { effects, endpoint, headers, resource, log } = options;
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  let queuedSpans: FinishedSpan[] = [];
  let lastSend: Promise<void> = Promise.resolve();
  let droppedCount = 0;

  async function send(spans: readonly FinishedSpan[]): Promise<void> {
    const { status } = await effects.http({
      url,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(requestOf(spans, resource)),
      timeoutMs: TIMEOUT_MS,
      maxBytes: 4_096,
      publicOnly: false,
      repeatable: true,
    });
    if (status >= 300) throw new Error(`the collector responded with status ${status}`);
  }

  async function sendQueuedSpans(): Promise<void> {
    while (queuedSpans.length > 0) {
      const batch = queuedSpans.splice(0, MAX_BATCH);
      try {
        await send(batch);
      } catch (error) {
        droppedCount += batch.length;
        log.warn({ err: error, dropped: droppedCount }, 'traces could not be sent');
        return;
      }
    }
  }

  function flush(): Promise<void> {
    lastSend = lastSend.then(sendQueuedSpans);
    return lastSend;
  }

  const timer = setInterval(() => void flush(), INTERVAL_MS).unref();
  return {
    flush,
    add(span) {
      if (queuedSpans.length >= MAX_WAITING) droppedCount++;
      else queuedSpans.push(span);
      if (queuedSpans.length === MAX_BATCH) void flush();
    },
    async stop() {
      clearInterval(timer);
      await within(STOP_MS, flush());
      queuedSpans = [];
    },
  };
}
