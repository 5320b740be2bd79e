// Settings of traces, with the names that OpenTelemetry defines for every program.
import {
  listOf,
  matches,
  problemUnless,
  type Setting,
  serviceUrlProblem,
} from '../../../kernel/settings.ts';
import { SAMPLERS, type SamplerName } from './sampling.ts';

export interface TracingSettings {
  /** Base URL of the collector. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  sampler: SamplerName;
  /** Between 0 and 1. */
  ratio: number;
}

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS';
const SERVICE_NAME = 'OTEL_SERVICE_NAME';
const SAMPLER = 'OTEL_TRACES_SAMPLER';
const RATIO = 'OTEL_TRACES_SAMPLER_ARG';

const HEADER = /^[\w-]+=[!-+\--~]*$/;

export const TRACING_SETTINGS: readonly Setting[] = [
  {
    env: ENDPOINT,
    value: 'URL',
    help: 'collector of OpenTelemetry that receives traces by OTLP over HTTP. Absent: no traces',
    validate: serviceUrlProblem,
  },
  {
    env: HEADERS,
    value: 'LIST',
    help: 'headers of requests to the collector, such as `api-key=…`, separated by commas',
    validate: (text) =>
      problemUnless(
        listOf(text).every((each) => HEADER.test(each)),
        'must be headers of the form name=value, separated by commas',
      ),
  },
  {
    env: SERVICE_NAME,
    fallback: 'railhead',
    value: 'NAME',
    help: 'name of this server in traces',
    validate: matches(/^[!-~]{1,100}$/, 'must be 1 to 100 visible characters'),
  },
  {
    env: SAMPLER,
    fallback: 'traceidratio',
    value: 'NAME',
    help: 'sampler of traces, by its name in OpenTelemetry, such as always_on',
    validate: (text) =>
      problemUnless(
        (SAMPLERS as readonly string[]).includes(text),
        `must be one of ${SAMPLERS.join(', ')}`,
      ),
  },
  {
    env: RATIO,
    fallback: '0.01',
    value: 'RATIO',
    help: 'part of the traces that is sampled by a ratio, 0 to 1',
    validate: matches(/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/, 'must be a number from 0 to 1'),
  },
];

const decodeText = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The settings of valid values, or undefined without a collector. */
export function tracingOf(values: ReadonlyMap<string, string>): TracingSettings | undefined {
  const endpoint = values.get(ENDPOINT);
  if (endpoint === undefined) return undefined;
  const headers = listOf(values.get(HEADERS) ?? '').filter((each) => each !== '');
  const entries = headers.map((each): [string, string] => {
    const separatorIndex = each.indexOf('=');
    return [each.slice(0, separatorIndex), decodeText(each.slice(separatorIndex + 1))];
  });
  return {
    endpoint,
    headers: Object.fromEntries(entries),
    serviceName: values.get(SERVICE_NAME) ?? 'railhead',
    // `validate` rejects other names.
    sampler: (values.get(SAMPLER) ?? 'traceidratio') as SamplerName,
    ratio: Number(values.get(RATIO) ?? '0.01'),
  };
}
