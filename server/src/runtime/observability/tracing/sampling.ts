// The samplers of OpenTelemetry, selected by OTEL_TRACES_SAMPLER. The ratio is compared with the trace
// ID, so that all services of a trace make the same decision.

/** Returns whether a trace is sampled. `isParentSampled` is the decision of the caller, if there is one. */
export type Sampler = (traceId: string, isParentSampled: boolean | undefined) => boolean;

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

/** Digits of the trace ID that are compared: 52 bits, which a number expresses exactly. */
const DIGITS = 13;

function rootSampler(name: string, ratio: number): (traceId: string) => boolean {
  if (name === 'always_on') return () => true;
  if (name === 'always_off') return () => false;
  const limit = ratio * 2 ** 52;
  return (traceId) => Number.parseInt(traceId.slice(-DIGITS), 16) < limit;
}

export function samplerOf(name: SamplerName, ratio: number): Sampler {
  const root = rootSampler(name.replace('parentbased_', ''), ratio);
  if (!name.startsWith('parentbased_')) return root;
  return (traceId, isParentSampled) => isParentSampled ?? root(traceId);
}
