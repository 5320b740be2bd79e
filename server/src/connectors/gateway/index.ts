// The provider protocol over HTTP. Providers are rows and not settings, so this connector is not in the
// registry: `features/providers` connects each row.

import type { ProviderProtocol } from '../ports/providers/port.ts';
import { Capabilities } from '../ports/providers/protocol.ts';
import { NOT_FOUND, providerClient } from './client.ts';
import { progressOf, transferCalls } from './transfers.ts';

export const gateway: ProviderProtocol = {
  connect(effects, name, address, keyOf) {
    const client = providerClient(effects, name, address, keyOf);
    return {
      async capabilities() {
        const reply = await client.call('/capabilities', {}, Capabilities);
        if (reply === NOT_FOUND) throw new Error(`${name} does not serve /capabilities`);
        return reply;
      },
      transfers: transferCalls(client),
    };
  },
  progressOf,
};
