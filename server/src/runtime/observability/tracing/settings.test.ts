// The variables of OpenTelemetry for traces, their defaults, and invalid values.
import { describe, expect, it } from 'vitest';
import { TRACING_SETTINGS, tracingOf } from './settings.ts';

const endpoint = 'http://127.0.0.1:4318';
const read = (values: Record<string, string>) => tracingOf(new Map(Object.entries(values)));

describe('tracing settings', () => {
  it('are absent without a collector, and sample 1 % of the traces by default', () => {
    expect(read({ OTEL_TRACES_SAMPLER_ARG: '1' })).toBeUndefined();
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toEqual({
      ...{ endpoint, headers: {}, serviceName: 'railhead', sampler: 'traceidratio', ratio: 0.01 },
    });
  });

  it('include headers, a service name and a sampler', () => {
    const values = {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,x-tenant=c=d',
      OTEL_SERVICE_NAME: 'payments',
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
    };
    expect(read(values)).toMatchObject({
      headers: { 'api-key': 'a b', 'x-tenant': 'c=d' },
      ...{ serviceName: 'payments', sampler: 'parentbased_always_on' },
    });
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ])('reject an invalid %s with a message that omits its value', (name, value) => {
    const setting = TRACING_SETTINGS.find(({ env }) => env === name);
    const problem = setting?.validate(value);
    expect(problem).toBeDefined();
    expect(problem).not.toContain(value);
  });
});
