// Firm quotes of the routed providers. A quote is redeemed by the provider that holds it, even if
// the routes have changed.

import type { FirmQuotePort } from '../../../connectors/ports/index.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { ProviderDirectory } from '../directory.ts';
import { providerOfService } from './select.ts';

/** Undefined if no provider of the environment offers quotes. */
export function routedFirmQuotes(
  directory: ProviderDirectory,
  environment: Mode,
): FirmQuotePort | undefined {
  const { providers } = directory.current();
  const isOffered = [...providers.values()].some(
    ({ row, capabilities }) =>
      row.environment === environment && capabilities?.services?.includes('firm_quotes'),
  );
  if (!isOffered) return undefined;
  return {
    async request(request) {
      const provider = providerOfService(directory, environment, 'firm_quotes');
      const quote = await provider?.port.firmQuotes.request(request);
      return provider && quote && { ...quote, providerId: provider.row.id };
    },
    async redeem(quote) {
      const provider = directory.current().providers.get(quote.providerId);
      if (!provider) throw new Error(`the provider ${quote.providerId} is not known`);
      return provider.port.firmQuotes.redeem(quote);
    },
  };
}
