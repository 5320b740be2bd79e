// Traces of sampled requests, jobs and deliveries, as OpenTelemetry defines them. The context of a span is
// in asynchronous storage, which slows each promise of the process. The storage is therefore enabled only
// while a sampled span runs.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { Sampler } from './sampling.ts';

/** Values of attributes: IDs, names, numbers and states, never personal data or secrets. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Kinds of spans, with their numbers in OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;
export type SpanKind = keyof typeof SPAN_KINDS;

export interface FinishedSpan {
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  name: string;
  kind: SpanKind;
  startedAt: Time;
  ms: number;
  attributes: Attributes;
  isFailed: boolean;
}

export interface Span {
  /** The `traceparent` header of calls that are a part of this span. */
  readonly traceparent: string;
  child(name: string, kind: SpanKind, attributes?: Attributes): Span;
  end(attributes?: Attributes, isFailed?: boolean): void;
}

export interface Tracer {
  /**
   * The span of work that begins here, or undefined if it is not sampled. `parent` is a `traceparent`
   * header, `cause` the ID of a row that a sampled span has committed.
   */
  start(
    name: string,
    kind: SpanKind,
    origin: { parent?: string | undefined; cause?: string | undefined },
  ): Span | undefined;
}

interface TracerOptions {
  effects: Pick<Effects, 'now' | 'random'>;
  sampler: Sampler;
  /** Receives each finished span of a sampled trace. Never throws. */
  onFinish(span: FinishedSpan): void;
}

/** Maximum number of rows whose cause is in memory: jobs and events of sampled spans in this process. */
const MAX_CAUSES = 10_000;

const storage = new AsyncLocalStorage<Span | undefined>();
let runningCount = 0;
/** Sampled spans that committed a job or an event, by its ID. */
const causes = new Map<string, Span>();

/** The sampled span in which the caller runs. */
export const currentSpan = (): Span | undefined =>
  runningCount > 0 ? storage.getStore() : undefined;

/**
 * Runs work in a span, which `currentSpan` returns for the work. Without a span, the work is outside the
 * span of the caller.
 */
export function inSpan<R>(span: Span | undefined, work: () => Promise<R>): Promise<R> {
  if (span) return runIn(span, work);
  return runningCount > 0 ? storage.run(undefined, work) : work();
}

async function runIn<R>(span: Span, work: () => Promise<R>): Promise<R> {
  runningCount++;
  try {
    return await storage.run(span, work);
  } finally {
    runningCount--;
    if (runningCount === 0) storage.disable();
  }
}

/** Runs work in a child of the current span, if there is one. The child ends with the work. */
export async function inChild<R>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: () => Promise<R>,
): Promise<R> {
  const span = currentSpan()?.child(name, kind, attributes);
  if (!span) return work();
  try {
    const result = await inSpan(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end({}, true);
    throw error;
  }
}

/**
 * Calls a function in a child of the current span, if there is one. The child is sent only if the function
 * returns a promise.
 */
export function traceCall<R>(name: string, kind: SpanKind, call: () => R): R {
  const span = currentSpan()?.child(name, kind);
  if (!span) return call();
  const result = storage.run(span, call);
  if (result instanceof Promise) {
    result.then(
      () => span.end(),
      () => span.end({}, true),
    );
  }
  return result;
}

/** Records in memory the rows that a span caused, so that their work continues its trace. */
export function rememberCause(span: Span, ids: Iterable<string>): void {
  for (const id of ids) causes.set(id, span);
  for (const id of causes.keys()) {
    if (causes.size <= MAX_CAUSES) return;
    causes.delete(id);
  }
}

const PARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const ZEROS = /^0+$/;

/** The context of a `traceparent` header, or undefined if it is invalid. */
export function contextOf(header: string | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = PARENT.exec(header ?? '') ?? [];
  if (traceId === '' || ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function createTracer({ effects, sampler, onFinish }: TracerOptions): Tracer {
  const randomHex = (bytes: number) => Buffer.from(effects.random(bytes)).toString('hex');

  function openSpan(
    traceId: string,
    parentId: string | undefined,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
  ): Span {
    const context = { traceId, spanId: randomHex(8) };
    const startedAt = effects.now();
    const startMs = performance.now();
    return {
      traceparent: `00-${traceId}-${context.spanId}-01`,
      child: (childName, childKind, childAttributes = {}) =>
        openSpan(traceId, context.spanId, childName, childKind, childAttributes),
      end(endAttributes = {}, isFailed = false) {
        const ms = performance.now() - startMs;
        const allAttributes = { ...attributes, ...endAttributes };
        onFinish({
          ...context,
          parentId,
          name,
          kind,
          startedAt,
          ms,
          attributes: allAttributes,
          isFailed,
        });
      },
    };
  }

  return {
    start(name, kind, { parent, cause }) {
      const causeSpan = cause === undefined ? undefined : causes.get(cause);
      if (causeSpan) return causeSpan.child(name, kind);
      const remoteContext = contextOf(parent);
      const traceId = remoteContext?.traceId ?? randomHex(16);
      if (!sampler(traceId, remoteContext?.isSampled)) return undefined;
      return openSpan(traceId, remoteContext?.spanId, name, kind, {});
    },
  };
}
