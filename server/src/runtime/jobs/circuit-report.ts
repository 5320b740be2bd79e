// Logs each change of a circuit breaker of the server, and shows the states as a metric.
import type { Effects } from '../../kernel/effects.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type Circuits, createCircuits } from './circuits.ts';

const VALUES = { closed: 0, 'half-open': 1, open: 2 } as const;

/** Consecutive failures that open the circuit of the storage. A single file may cause four failures. */
export const STORAGE_FAILURES = 20;

export function reportedCircuits(effects: Effects, log: Log, metrics: Metrics): Circuits {
  const circuits = createCircuits(
    () => effects.now(),
    ({ state, ...change }) => {
      const message = `circuit is ${state}`;
      if (state === 'open') log.warn({ ...change }, message);
      else log.info({ ...change }, message);
    },
  );
  const help = 'Circuit of a provider: 0 closed, 1 half-open, 2 open.';
  metrics.watchEach('railhead_circuit_state', help, 'provider', () => {
    const states = [...circuits.states()];
    return new Map(states.map(([provider, state]) => [provider, VALUES[state]]));
  });
  return circuits;
}
