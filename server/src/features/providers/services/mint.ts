// The stablecoin provider of an environment. The route selects the provider of a new account. The same
// provider receives every later call about the account, because it stores the tokens and orders of the
// account.

import type { MintPort } from '../../../connectors/ports/stablecoins.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { ProviderDirectory } from '../directory.ts';
import { providerOfService } from './select.ts';

interface RoutedMintDeps {
  directory: ProviderDirectory;
  environment: Mode;
  builtIn: MintPort | undefined;
}

type Calls = Omit<MintPort, 'selectedProvider' | 'enablesImmediately'>;

/**
 * Whether a provider of the environment has the service. A paused provider counts, because its existing
 * accounts need the service.
 */
const isServed = ({ directory, environment }: RoutedMintDeps): boolean =>
  [...directory.current().providers.values()].some(
    ({ row, capabilities }) =>
      row.environment === environment && capabilities?.services?.includes('stablecoins'),
  );

export function routedMint(deps: RoutedMintDeps): MintPort | undefined {
  const { directory, environment, builtIn } = deps;
  if (!isServed(deps)) return builtIn;

  /** `isNew`: for new accounts and orders. A paused provider does not receive them. */
  function callsOf(providerId: string | null | undefined, isNew = false): Calls {
    if (providerId == null) {
      if (!builtIn) throw new Error('no built-in stablecoin provider is connected');
      return builtIn;
    }
    const provider = directory.current().providers.get(providerId);
    if (!provider) throw new Error(`the provider ${providerId} is not known`);
    if (isNew && provider.row.status !== 'ACTIVE') {
      throw new Error(`the provider ${providerId} is paused`);
    }
    return provider.port.mint;
  }

  return {
    selectedProvider: () =>
      providerOfService(directory, environment, 'stablecoins')?.row.id ?? null,
    accountsOf: async (credentials, providerId) =>
      callsOf(providerId, true).accountsOf(credentials),
    token: async (link, name, ageMs) => callsOf(link.providerId).token(link, name, ageMs),
    linkAccount: async (link, account) => callsOf(link.providerId, true).linkAccount(link, account),
    prepare: async (link, order) => callsOf(link.providerId, true).prepare(link, order),
    submit: async (link, order) => callsOf(link.providerId).submit(link, order),
    check: async (link, order, now) => callsOf(link.providerId).check(link, order, now),
    enablesImmediately: (name) => builtIn?.enablesImmediately?.(name) ?? false,
  };
}
