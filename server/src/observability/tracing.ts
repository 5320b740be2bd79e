// Traces of a server: the exporter of its spans, and spans of calls to connectors. Connectors import no
// part of the runtime, so their spans are created here.
import type { Connectors } from '../connectors/ports/index.ts';
import type { Effects } from '../kernel/effects.ts';
import { installedVersion } from '../runtime/config/version.ts';
import type { Log } from '../runtime/observability/log.ts';
import { createExporter } from '../runtime/observability/tracing/otlp.ts';
import { samplerOf } from '../runtime/observability/tracing/sampling.ts';
import type { TracingSettings } from '../runtime/observability/tracing/settings.ts';
import {
  createTracer,
  currentSpan,
  type Tracer,
  traceCall,
} from '../runtime/observability/tracing/tracer.ts';

interface Settings {
  tracing?: TracingSettings | undefined;
  process?: { number: number } | undefined;
}

interface Tracing {
  tracer: Tracer | undefined;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
}

/** The tracing of a server. Its `tracer` is undefined without a collector. */
export function openTracing({ tracing, process }: Settings, effects: Effects, log: Log): Tracing {
  if (!tracing) return { tracer: undefined, stop: async () => undefined };
  const { endpoint, headers, serviceName, sampler, ratio } = tracing;
  const resource = {
    'service.name': serviceName,
    'service.version': installedVersion(),
    ...(process ? { 'service.instance.id': String(process.number) } : {}),
  };
  const exporter = createExporter({ effects, endpoint, headers, resource, log });
  const tracer = createTracer({
    effects,
    sampler: samplerOf(sampler, ratio),
    onFinish: exporter.add,
  });
  return { tracer, stop: exporter.stop };
}

/** Effects whose `http` sends the context of the current span with each request. */
export const tracedEffects = (effects: Effects): Effects => ({
  now: () => effects.now(),
  random: (bytes) => effects.random(bytes),
  stream: (request) => effects.stream(request),
  call: (limits, work) => effects.call(limits, work),
  http(request) {
    const span = currentSpan();
    if (!span) return effects.http(request);
    const headers = { ...request.headers, traceparent: span.traceparent };
    return effects.http({ ...request, headers });
  },
});

/** A port whose asynchronous calls are spans. */
const tracedPort = <P extends object>(name: string, port: P): P =>
  new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || typeof key === 'symbol') return member;
      return (...args: unknown[]) =>
        traceCall(`connector ${name}.${key}`, 'client', () => member.apply(target, args));
    },
  });

/** The connectors with spans for their calls. Unchanged without a current span. */
export function tracedConnectors(connectors: Connectors): Connectors {
  if (!currentSpan()) return connectors;
  return new Proxy(connectors, {
    get(target, key) {
      const port: unknown = Reflect.get(target, key);
      if (typeof port !== 'object' || port === null) return port;
      return tracedPort(String(key), port);
    },
  });
}
