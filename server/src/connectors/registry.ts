// Which connectors serve which environment. A production platform is never served by the sandbox: what no
// connector offers is not offered.
import type { Environment } from '../runtime/context.ts';
import type { Connectors } from './ports.ts';
import { sandboxFunding } from './sandbox/funding.ts';
import { sandboxIdentity } from './sandbox/identity.ts';
import { sandboxNames } from './sandbox/names.ts';
import { sandboxRail } from './sandbox/rail.ts';
import { sandboxRates } from './sandbox/rates.ts';

/** The connectors of both environments. */
export function connectorRegistry(now: () => number): (environment: Environment) => Connectors {
  const serving: Record<Environment, Connectors> = {
    sandbox: {
      rail: sandboxRail,
      names: sandboxNames,
      rates: sandboxRates(now),
      funding: sandboxFunding,
      identity: sandboxIdentity,
    },
    production: {},
  };
  return (environment) => serving[environment];
}
