// Circuit breakers of providers. After several consecutive calls without a response or with a
// server error (5xx), calls fail immediately until a probe or a call in progress succeeds. A
// rejection (4xx) counts as a success. Circuits are between built-in connectors and network, so
// that no built-in connector can omit them.

import type { Effects, Time } from '../../kernel/effects.ts';
import { circuitOpen } from '../../kernel/net/circuit.ts';

type CircuitState = 'closed' | 'half-open' | 'open';

export interface CircuitChange {
  provider: string;
  state: CircuitState;
  /** Consecutive calls without a response or with a server error. */
  failures: number;
}

export interface Circuits {
  /** The effects of one provider's connector, with a circuit for each origin. */
  effects(effects: Effects, provider: string, failures?: number): Effects;
  /** The worst state of each provider's circuits. */
  states(): ReadonlyMap<string, CircuitState>;
}

/** Consecutive failures that open a circuit. */
export const MAX_FAILURES = 5;
/** Duration for which a circuit is open before a probe. */
export const OPEN_MS = 30_000;
/** Retry delay for calls during a probe, about the longest deadline of a call. */
const PROBING_MS = 10_000;

const SEVERITY_ORDER: readonly CircuitState[] = ['closed', 'half-open', 'open'];

interface Circuit {
  state(): CircuitState;
  /** Throws if calls are currently rejected. The first call after the pause becomes the probe. */
  enter(): void;
  recordSuccess(): void;
  recordFailure(): void;
}

function createCircuit(
  now: () => Time,
  provider: string,
  maxFailures: number,
  onChange: (change: CircuitChange) => void,
): Circuit {
  let state: CircuitState = 'closed';
  let failures = 0;
  let retryAt: Time = 0;

  function changeTo(newState: CircuitState): void {
    state = newState;
    onChange({ provider, state, failures });
  }

  return {
    state: () => state,
    enter() {
      if (state === 'closed') return;
      if (state === 'half-open') throw circuitOpen(provider, now() + PROBING_MS);
      if (now() < retryAt) throw circuitOpen(provider, retryAt);
      changeTo('half-open');
    },
    recordSuccess() {
      failures = 0;
      if (state !== 'closed') changeTo('closed');
    },
    recordFailure() {
      failures++;
      // Failures of calls that were in progress when the circuit opened are ignored.
      if (state === 'open' || (state === 'closed' && failures < maxFailures)) return;
      retryAt = now() + OPEN_MS;
      changeTo('open');
    },
  };
}

/** Counts a truncated or stalled body as a failure of its provider. */
async function* watchBody(body: AsyncIterable<Uint8Array>, recordFailure: () => void) {
  try {
    yield* body;
  } catch (error) {
    recordFailure();
    throw error;
  }
}

function guardEffects(effects: Effects, circuitOf: (origin: string) => Circuit): Effects {
  async function guardedCall<R extends { status: number }>(url: string, send: () => Promise<R>) {
    const circuit = circuitOf(new URL(url).origin);
    circuit.enter();
    const reply = await send().catch((error: unknown) => {
      circuit.recordFailure();
      throw error;
    });
    if (reply.status >= 500) circuit.recordFailure();
    else circuit.recordSuccess();
    return { reply, circuit };
  }

  return {
    now: () => effects.now(),
    random: (bytes) => effects.random(bytes),
    http: async (request) => (await guardedCall(request.url, () => effects.http(request))).reply,
    async stream(request) {
      const { reply, circuit } = await guardedCall(request.url, () => effects.stream(request));
      return { ...reply, body: watchBody(reply.body, circuit.recordFailure) };
    },
    async call(limits, work) {
      const circuit = circuitOf('');
      circuit.enter();
      try {
        const result = await effects.call(limits, work);
        circuit.recordSuccess();
        return result;
      } catch (error) {
        if (limits.isValidResponse?.(error)) circuit.recordSuccess();
        else circuit.recordFailure();
        throw error;
      }
    },
  };
}

/** The circuits of one process, initially closed. `onChange` is called on each change of state. */
export function createCircuits(
  now: () => Time,
  onChange: (change: CircuitChange) => void = () => {},
): Circuits {
  const circuitsByProvider = new Map<string, Map<string, Circuit>>();
  return {
    effects(effects, provider, maxFailures = MAX_FAILURES) {
      const circuits = circuitsByProvider.get(provider) ?? new Map<string, Circuit>();
      circuitsByProvider.set(provider, circuits);
      return guardEffects(effects, (origin) => {
        const existingCircuit = circuits.get(origin);
        const circuit = existingCircuit ?? createCircuit(now, provider, maxFailures, onChange);
        circuits.set(origin, circuit);
        return circuit;
      });
    },
    states() {
      const worstIndex = (circuits: Map<string, Circuit>) =>
        Math.max(0, ...[...circuits.values()].map((each) => SEVERITY_ORDER.indexOf(each.state())));
      return new Map(
        [...circuitsByProvider].map(([name, circuits]) => [
          name,
          SEVERITY_ORDER[worstIndex(circuits)] ?? 'closed',
        ]),
      );
    },
  };
}
