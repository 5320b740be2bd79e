// The capabilities of each connector, opened separately. A suite over the implementations of a port
// then includes connectors that another connector would replace.

import type {
  Capabilities,
  Capability,
  ConnectorContext,
} from '../../../src/connectors/connector.ts';
import { CONNECTORS, custodyKeysOf, openConnectors } from '../../../src/connectors/registry.ts';
import type { Effects } from '../../../src/kernel/effects.ts';
import type { Mode } from '../../../src/kernel/mode.ts';
import { createVault } from '../../../src/runtime/security/vault.ts';

/** Context of a connector for tests: no circuit breaker, and keys of a fixed master key. */
export function partsIn(mode: Mode, effects: Effects, masterKey = 7): ConnectorContext {
  const vault = createVault(effects, () => Buffer.alloc(32, masterKey));
  const provider = () => effects;
  return { mode, effects, provider, keys: custodyKeysOf(vault), reportProblem: () => {} };
}

type Offer<Name extends Capability> = readonly [string, Mode, NonNullable<Capabilities[Name]>];

/** Connector name, mode and implementation, for each connector with the capability. */
export function offersOf<Name extends Capability>(
  capability: Name,
  effects: Effects,
  settings: Readonly<Record<string, unknown>> = {},
): readonly Offer<Name>[] {
  return CONNECTORS.flatMap((connector) =>
    connector.modes.flatMap((mode) => {
      const offer = openConnectors([connector], partsIn(mode, effects), settings)[capability];
      return offer
        ? [[connector.name, mode, offer as NonNullable<Capabilities[Name]>] as const]
        : [];
    }),
  );
}
