// Selects the provider of a service by its routes.

import type { Service } from '../../../connectors/ports/providers/services.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Provider, ProviderDirectory } from '../directory.ts';

/**
 * Returns the provider of a service, or undefined if no route selects a provider. Paused providers
 * are skipped unless `includesPaused`. A provider whose circuit breaker is open is selected only if
 * no other provider is available.
 */
export function providerOfService(
  directory: ProviderDirectory,
  environment: Mode,
  service: Service,
  includesPaused = false,
): Provider | undefined {
  const { routes, providers } = directory.current();
  const offeringProviders = routes.flatMap((route) => {
    if (route.environment !== environment || route.kind !== service) return [];
    const provider = providers.get(route.provider_id ?? '');
    if (!provider?.capabilities?.services?.includes(service)) return [];
    return includesPaused || provider.row.status === 'ACTIVE' ? [provider] : [];
  });
  return (
    offeringProviders.find(({ row }) => !directory.isUnavailable(row.id)) ?? offeringProviders[0]
  );
}
