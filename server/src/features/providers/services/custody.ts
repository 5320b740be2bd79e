// The custodian of an environment with providers. The provider of the route generates delegated keys and
// later signs with them. Seeds, one-time codes and all other data remain with the built-in custodian.

import type { ProviderPort } from '../../../connectors/ports/providers/port.ts';
import type { CustodyPort } from '../../../connectors/ports/wallets.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { ProviderDirectory } from '../directory.ts';
import { providerOfService } from './select.ts';

/** References of the built-in custodian are sealed and never have this prefix. */
const PROVIDER_REFERENCE = /^provider:([a-z0-9-]+) (.*)$/s;

const unavailableFault = (cause: unknown) => {
  const reason = 'The custodian did not generate a key. Try again.';
  return new Fault('SERVICE_UNAVAILABLE', reason, undefined, { retryAfterS: 5, cause });
};

const requestKey = (custody: ProviderPort['custody'], id: string) =>
  custody.newSigner({ id }).catch((cause) => {
    throw unavailableFault(cause);
  });

export function routedCustody(
  directory: ProviderDirectory,
  environment: Mode,
  builtIn: CustodyPort | undefined,
): CustodyPort | undefined {
  if (!builtIn || directory.current().providers.size === 0) return builtIn;
  return {
    ...builtIn,
    async newSigner(owner) {
      const provider = providerOfService(directory, environment, 'custody');
      if (!provider) return builtIn.newSigner(owner);
      const { publicKey, signer } = await requestKey(provider.port.custody, owner.id);
      return { publicKey, signer: `provider:${provider.row.id} ${signer}` };
    },
    async stampWith(key) {
      const [, providerId, signer] = PROVIDER_REFERENCE.exec(key.signer) ?? [];
      if (providerId === undefined || signer === undefined) return builtIn.stampWith(key);
      const provider = directory.current().providers.get(providerId);
      if (!provider) throw new Error(`the provider ${providerId} is not known`);
      return provider.port.custody.stampWith({ ...key, signer });
    },
  };
}
